import { describe, expect, test } from 'bun:test'
import {
  type ConnectionState,
  type EventStream,
  type EventsOptions,
  type GapEvent,
  type GatewayEvent,
  Sgw,
  type SgwError,
} from '../../src/client/client.ts'
import { fakeTimers } from '../support/fake-timers.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'
import { answer } from './answers.ts'
import { ScriptedGateway, inbound } from './scripted-gateway.ts'

type StreamItem = GatewayEvent | GapEvent

describe('events()', () => {
  test('starts now, and yields each event of the app and its tenant once', async () => {
    await using world = await createWorld()
    await world.untilStatus(await world.send())
    await using reader = await Reader.open(clientOf(world))
    const messageId = await world.send()
    await world.control.injectSms({ from: TO, to: FROM, text: 'Yes' })
    await until(() => reader.items.length === 4)
    expect(reader.statusesOf(messageId)).toEqual(['queued', 'sending', 'sent'])
    expect(reader.items.find(({ type }) => type === 'sms_inbound')).toMatchObject({ from: TO, to: FROM, body: 'Yes' })
    expect(reader.states).toEqual([{ online: true, retryAt: null }])
  })

  test('continues after a cursor that was kept', async () => {
    await using world = await createWorld()
    const sgw = clientOf(world)
    let cursor: string | undefined
    {
      await using reader = await Reader.open(sgw)
      cursor = reader.stream.cursor
    }
    const missed = await world.send()
    await world.untilStatus(missed)
    await using reader = await Reader.open(sgw, cursor === undefined ? {} : { after: cursor })
    await until(() => reader.items.length === 3)
    const live = await world.send()
    await until(() => reader.items.length === 6)
    expect([reader.statusesOf(missed), reader.statusesOf(live)]).toEqual([
      ['queued', 'sending', 'sent'],
      ['queued', 'sending', 'sent'],
    ])
  })

  test('begins with the cursor of eventCursor(), also when the loop begins after the answer came', async () => {
    await using world = await createWorld()
    await world.untilStatus(await world.send())
    const after = await clientOf(world).eventCursor()
    await world.control.injectSms({ from: TO, to: FROM, text: 'C' })
    await until(async () => (await clientOf(world).sms.list({ direction: 'inbound' }).page(1)).total === 1)
    await using reader = await Reader.open(clientOf(world), { after })
    await until(() => reader.items.length === 1)
    expect(reader.items).toMatchObject([{ type: 'sms_inbound', body: 'C' }])
  })

  test('has a cursor that never passes an event which the loop was not given', async () => {
    await using world = await createWorld({ work: false })
    const sgw = clientOf(world)
    const { cursor: after } = await sgw.request<{ cursor: string }>('GET', '/v1/events')
    const ids: string[] = []
    for (let index = 0; index < 30; index++) ids.push(await world.send())
    const seen: string[] = []
    for (let cursor = after; seen.length < 30;) {
      const stream = sgw.events({ after: cursor })
      let given = 0
      for await (const event of stream) {
        if ('messageId' in event && !seen.includes(event.messageId)) seen.push(event.messageId)
        cursor = stream.cursor ?? ''
        if (++given === 7) break
      }
      // A page of 7 would be needed for the cursor to move: read the rest at once.
      if (cursor === after)
        for (const { messageId } of await rest(sgw, cursor)) if (!seen.includes(messageId)) seen.push(messageId)
    }
    expect(seen).toEqual(ids)
  })

  test('ends with its signal, and closes its socket', async () => {
    await using world = await createWorld()
    const reader = await Reader.open(clientOf(world))
    expect(world.gateway.sockets.count).toBe(1)
    await reader[Symbol.asyncDispose]()
    await until(() => world.gateway.sockets.count === 0)
    expect(reader.states).toEqual([
      { online: true, retryAt: null },
      { online: false, retryAt: null },
    ])
  })

  test('does nothing when its signal has already aborted', async () => {
    const gateway = new ScriptedGateway()
    expect(await Array.fromAsync(gateway.client().events({ signal: AbortSignal.abort() }))).toEqual([])
    expect(gateway.calls).toEqual([])
  })

  test('closes its socket after break', async () => {
    await using world = await createWorld()
    const stream = clientOf(world).events()
    void until(() => stream.cursor).then(() => world.send())
    for await (const event of stream) {
      expect(event).toMatchObject({ type: 'sms_status', status: 'queued' })
      break
    }
    await until(() => world.gateway.sockets.count === 0)
  })

  test('throws at once where there is no WebSocket, and says what to pass', () => {
    const original = globalThis.WebSocket
    Reflect.deleteProperty(globalThis, 'WebSocket')
    try {
      const sgw = new Sgw({ baseUrl: 'http://sms.test', apiKey: 'sgw_key' })
      expect(() => sgw.events()).toThrow('pass one to new Sgw({ WebSocket })')
    } finally {
      globalThis.WebSocket = original
    }
  })

  test.each([401, 403])('throws on %i, also when the key was revoked later', async (status) => {
    const gateway = new ScriptedGateway()
    gateway.answers.push(answer(status, { error: 'Invalid API key' }))
    await using reader = new Reader(gateway.client())
    expect(await reader.failed).toMatchObject({ status, message: 'Invalid API key' })
    expect(reader.states).toEqual([{ online: false, retryAt: null }])

    await using world = await createWorld()
    await using revoked = await Reader.open(clientOf(world))
    await clientOf(world).apps.rotateKey(world.app.appId)
    expect(await revoked.failed).toMatchObject({ status: 401 })
  })
})

describe('a connection that fails', () => {
  test('is made again, whatever the reason, and told', async () => {
    const { advance } = fakeTimers()
    const gateway = new ScriptedGateway()
    gateway.answers.push(answer(500), answer(404), answer(400), new Response('<html>'), () =>
      Promise.reject(new TypeError('refused')),
    )
    await using reader = new Reader(gateway.client())
    for (let tries = 1; tries <= 5; tries++) {
      await settled(() => reader.states.length === tries)
      advance(30_000)
    }
    await settled(() => gateway.sockets.length === 1)
    gateway.socket.open()
    gateway.socket.receive({ type: 'cursor', cursor: 'c1' })
    await settled(() => reader.states.length === 6)
    expect(reader.states.map(({ online }) => online)).toEqual([false, false, false, false, false, true])
    expect(reader.states.slice(0, 5).every(({ retryAt }) => retryAt instanceof Date)).toBe(true)
    expect(reader.errors.map((error) => (error as SgwError | undefined)?.status)).toEqual([
      500,
      404,
      400,
      200,
      0,
      undefined,
    ])
  })

  test('waits longer each time, with jitter, and not less than Retry-After', async () => {
    const { advance } = fakeTimers()
    const gateway = new ScriptedGateway()
    gateway.answers.push(answer(429, {}, { 'Retry-After': '90' }), ...Array.from({ length: 8 }, () => answer(500)))
    await using reader = new Reader(gateway.client())
    const waits: number[] = []
    for (let tries = 1; tries <= 9; tries++) {
      await settled(() => reader.states.length === tries)
      waits.push((reader.states.at(-1)?.retryAt?.getTime() ?? 0) - Date.now())
      advance(90_000)
    }
    expect(waits[0]).toBe(90_000)
    for (const [index, wait] of waits.entries()) {
      if (index === 0) continue
      const longest = Math.min(30_000, 500 * 2 ** index)
      expect(wait).toBeGreaterThanOrEqual(longest / 2 - 1)
      expect(wait).toBeLessThanOrEqual(longest)
    }
    expect(new Set(waits.slice(6)).size).toBe(3)
  })

  test('waits briefly again once a page was read, also if it is lost before all was', async () => {
    const { advance } = fakeTimers()
    const gateway = new ScriptedGateway()
    await using reader = new Reader(gateway.client())
    await gateway.connected('c0')
    gateway.answers.push(...Array.from({ length: 4 }, () => answer(500)))
    gateway.pages.push({ after: 'c0', events: [inbound(1)], cursor: 'c1' }, { after: 'lost', events: [], cursor: '' })
    gateway.socket.close()
    for (let losses = 1; losses <= 5; losses++) {
      await settled(() => reader.states.length === losses + 1)
      advance(30_000)
    }
    await settled(() => gateway.sockets.length === 2)
    gateway.socket.open()
    await settled(() => reader.states.length === 7)
    expect(reader.ids).toEqual([1])
    expect((reader.states.at(-1)?.retryAt?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(500)
  })

  test('is given up after 70 s without a frame, and after timeoutMs without an answer to its token', async () => {
    const { advance } = fakeTimers()
    const gateway = new ScriptedGateway()
    await using reader = new Reader(gateway.client({ timeoutMs: 10_000 }))
    await settled(() => gateway.sockets.length === 1)
    advance(10_000)
    await settled(() => reader.states.length === 1)
    expect(String(reader.errors[0])).toContain('silent for 10000 ms')
    advance(30_000)
    await settled(() => gateway.sockets.length === 2)
    gateway.socket.open()
    gateway.socket.receive({ type: 'cursor', cursor: 'c1' })
    await settled(() => reader.states.at(-1)?.online === true)
    for (let pings = 0; pings < 5; pings++) {
      advance(65_000)
      gateway.socket.receive({ type: 'ping' })
    }
    expect(gateway.socket.isClosed).toBe(false)
    advance(70_000)
    await settled(() => reader.states.at(-1)?.online === false)
    expect(gateway.socket.isClosed).toBe(true)
  })

  test('catches up by cursor, and yields what comes by both ways once', async () => {
    const { advance } = fakeTimers()
    const gateway = new ScriptedGateway()
    await using reader = new Reader(gateway.client())
    await gateway.connected('c0')
    gateway.socket.receive(inbound(1))
    gateway.socket.receive({ type: 'cursor', cursor: 'c1' })
    gateway.socket.receive(inbound(2))
    await settled(() => reader.items.length === 2)
    gateway.socket.close()
    await settled(() => reader.states.at(-1)?.online === false)
    gateway.pages.push(
      { after: 'c1', events: [inbound(2), inbound(3)], cursor: 'c3' },
      { after: 'c3', events: [], cursor: 'c3' },
    )
    advance(500)
    await settled(() => gateway.sockets.length === 2)
    gateway.socket.open()
    await settled(() => reader.states.at(-1)?.online === true)
    gateway.socket.receive(inbound(3))
    gateway.socket.receive(inbound(4))
    await settled(() => reader.items.length === 4)
    expect(reader.ids).toEqual([1, 2, 3, 4])
    expect(reader.stream.cursor).toBe('c3')
  })

  test('tells a gap where events are gone', async () => {
    await using world = await createWorld()
    const { cursor } = await clientOf(world).request<{ cursor: string }>('GET', '/v1/events')
    await world.untilStatus(await world.send())
    const messageId = await world.send()
    await world.untilStatus(messageId)
    await world.gateway.database.gate.execute('DELETE FROM events WHERE seq < (SELECT max(seq) FROM events)')
    await using reader = await Reader.open(clientOf(world), { after: cursor })
    await until(() => reader.items.length === 2)
    expect(reader.items).toEqual([{ type: 'gap' }, expect.objectContaining({ messageId, status: 'sent' })])
  })

  test.each([
    ['the gateway cannot read the cursor', 'of another gateway'],
    ['the stored cursor is empty, as after a crash while its file was written', ''],
  ])('tells a gap and goes on with new events if %s', async (_, after) => {
    await using world = await createWorld()
    await world.untilStatus(await world.send())
    await using reader = await Reader.open(clientOf(world), { after })
    const messageId = await world.send()
    await until(() => reader.items.length === 4)
    expect(reader.items[0]).toEqual({ type: 'gap' })
    expect(reader.statusesOf(messageId)).toEqual(['queued', 'sending', 'sent'])
    expect(reader.states).toEqual([{ online: true, retryAt: null }])
  })
})

describe('a loop', () => {
  test('that is slower than the events gets all of them, in order, without keeping them in memory', async () => {
    const { advance } = fakeTimers()
    const gateway = new ScriptedGateway()
    const more = Promise.withResolvers<void>()
    await using reader = new Reader(gateway.client(), {}, () => more.promise)
    await gateway.connected('c0')
    for (let id = 1; id <= 1500; id++) gateway.socket.receive(inbound(id))
    expect(gateway.socket.isClosed).toBe(true)
    const events = Array.from({ length: 1500 }, (_, index) => inbound(index + 1))
    gateway.pages.push({ after: 'c0', events, cursor: 'c1' }, { after: 'c1', events: [], cursor: 'c1' })
    more.resolve()
    await settled(() => reader.states.at(-1)?.online === false)
    advance(500)
    await settled(() => gateway.sockets.length === 2)
    gateway.socket.open()
    await settled(() => reader.items.length === 1500)
    expect(reader.ids).toEqual(events.map((_, index) => index + 1))
  })

  test('is not disturbed by frames that it does not know', async () => {
    const gateway = new ScriptedGateway()
    await using reader = new Reader(gateway.client())
    await gateway.connected('c0')
    for (const frame of ['<html>', 'null', '7', '{}', '{"type":"news"}', new Uint8Array(3)])
      gateway.socket.receiveRaw(frame)
    gateway.socket.receive(inbound(1))
    await settled(() => reader.items.length > 0)
    expect(reader.ids).toEqual([1])
  })

  test('that throws ends the connection', async () => {
    const gateway = new ScriptedGateway()
    await using reader = new Reader(gateway.client(), {}, () => Promise.reject(new Error('a bug of the loop')))
    await gateway.connected('c0')
    gateway.socket.receive(inbound(1))
    expect(await reader.failed).toMatchObject({ message: 'a bug of the loop' })
    expect(gateway.socket.isClosed).toBe(true)
  })
})

/** Reads a stream to its end in the background. */
class Reader implements AsyncDisposable {
  readonly items: StreamItem[] = []
  readonly states: ConnectionState[] = []
  readonly errors: unknown[] = []
  readonly stream: EventStream
  /** The error with which the loop ended; null if it ended without one. */
  readonly failed: Promise<unknown>
  readonly #stop = new AbortController()

  constructor(sgw: Sgw, options: EventsOptions = {}, each: () => Promise<void> = () => Promise.resolve()) {
    const onState = (state: ConnectionState, error: unknown) => {
      this.states.push(state)
      this.errors.push(error)
    }
    this.stream = sgw.events({ ...options, signal: this.#stop.signal, onState })
    this.failed = this.#read(each).then(
      () => null,
      (error: unknown) => error,
    )
  }

  /** Resolves when it is connected. */
  static async open(sgw: Sgw, options: EventsOptions = {}): Promise<Reader> {
    const reader = new Reader(sgw, options)
    await until(() => reader.states.at(-1)?.online)
    return reader
  }

  get ids(): number[] {
    return this.items.map((item) => ('messageId' in item ? Number(item.messageId.slice(4)) : 0))
  }

  statusesOf(messageId: string): string[] {
    return this.items.flatMap((item) =>
      item.type === 'sms_status' && item.messageId === messageId ? [item.status] : [],
    )
  }

  async #read(each: () => Promise<void>): Promise<void> {
    for await (const item of this.stream) {
      await each()
      this.items.push(item)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.failed
  }
}

const clientOf = (world: World): Sgw => new Sgw({ baseUrl: world.url, apiKey: world.key })

async function rest(sgw: Sgw, after: string): Promise<{ messageId: string }[]> {
  return (await sgw.request<{ events: { messageId: string }[] }>('GET', '/v1/events', { query: { after } })).events
}

/** Waits for what needs no time, only turns of the event loop, also while the timers stand still. */
async function settled(isDone: () => boolean): Promise<void> {
  for (let turns = 0; turns < 10_000; turns++) {
    if (isDone()) return
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }
  throw new Error('It does not happen')
}
