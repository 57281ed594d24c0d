import { expect, test } from 'bun:test'
import { expectError } from '../support/expect-error.ts'
import { postEvent, smsEvent, subscribe } from '../support/provider-events.ts'
import { manualClock } from '../support/manual-clock.ts'
import { FROM, TO, type World, createWorld, recordedLog, until } from '../support/world.ts'

const ready = async (world: World): Promise<object> => {
  const answer = await fetch(`${world.running.adminUrl}/ready`)
  return { status: answer.status, body: await answer.json() }
}

const isFailing = async (world: World): Promise<number> => {
  const text = await (await fetch(`${world.running.adminUrl}/metrics`)).text()
  return Number(/^sgw_storage_failing (\d)$/m.exec(text)?.[1])
}

/** Limits the database to `pages` pages. Writes beyond them fail with SQLITE_FULL. */
async function limitPages(world: World, pages: number): Promise<void> {
  await world.gateway.database.gate.execute(`PRAGMA max_page_count = ${pages}`)
}

const send = (world: World, body: string): Promise<Response> =>
  world.call('POST', '/v1/sms/send', { body: { from: FROM, to: TO, body } })

test('with a full disk, writes are 503 with Retry-After, reads work, the fault is reported, and the gateway recovers by itself', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log, env: { ADMIN_PORT: '0' } })
  const token = await subscribe(world)
  expect(await ready(world)).toEqual({ status: 200, body: { status: 'ready' } })
  expect(await isFailing(world)).toBe(0)

  await limitPages(world, 1)
  const accepted: string[] = []
  let refused = 0
  const load = async (worker: number): Promise<void> => {
    for (let number = 0; refused < 200; number++) {
      const answer = await send(world, `${worker} ${number} ${'x'.repeat(900)}`)
      const body = (await answer.json()) as { messageId: string }
      if (answer.status === 202) accepted.push(body.messageId)
      else refused++
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, worker) => load(worker)))

  // Messages that end meanwhile make room for a few more.
  const answer = await until(async () => {
    const sent = await send(world, 'x'.repeat(1600))
    if (sent.status === 202) accepted.push(((await sent.json()) as { messageId: string }).messageId)
    return sent.status === 503 && sent
  })
  expect(answer.headers.get('retry-after')).toBe('5')
  await expectError(answer, 503, 'Storage unavailable')
  const big = 'https://hooks.example.com/'.padEnd(1900, 'x')
  const register = { name: 'App', tenantId: world.tenantId, webhookUrl: big }
  for (const [path, body] of [
    ['/v1/apps/register', register],
    ['/v1/triggers', { callbackUrl: big }],
  ] as const)
    await until(async () => (await world.call('POST', path, { body })).status === 503)
  let id = 3_062_991_600_000
  const inbound = () => smsEvent({ id: String(id++), subject: 'y'.repeat(1000) })
  await until(async () => (await postEvent(world, token, inbound())).status === 503)
  expect((await world.call('GET', '/v1/sms/messages')).status).toBe(200)
  expect((await world.call('GET', '/health', { key: null })).status).toBe(200)
  expect(await ready(world)).toEqual({ status: 503, body: { status: 'storage unavailable' } })
  expect(await isFailing(world)).toBe(1)

  await limitPages(world, 1_000_000)
  await until(async () => (await isFailing(world)) === 0)
  expect(await ready(world)).toEqual({ status: 200, body: { status: 'ready' } })
  expect((await send(world, 'After')).status).toBe(202)
  expect((await postEvent(world, token, smsEvent())).status).toBe(200)
  const { rows } = await world.gateway.database.gate.execute("SELECT id FROM messages WHERE direction = 'outbound'")
  expect(rows).toHaveLength(accepted.length + 1)
  const logged = lines.filter((line) => line.includes('the storage'))
  expect(logged[0]).toContain('SQLITE_FULL')
  expect(logged.at(-1)).toContain('the storage works again')
})

test('/ready reports that the storage works again, also without traffic', async () => {
  await using world = await createWorld({ connect: false, env: { ADMIN_PORT: '0' } })
  await limitPages(world, 1)
  await until(async () => (await send(world, 'x'.repeat(1600))).status === 503)
  expect(await ready(world)).toMatchObject({ status: 503 })
  await limitPages(world, 1_000_000)
  expect(await ready(world)).toMatchObject({ status: 200 })
})

test('a full disk is logged at most once a minute, with how many requests were refused, and not once per request', async () => {
  const { log, lines } = recordedLog()
  const clock = manualClock(Date.now())
  await using world = await createWorld({ log, clock, connect: false })
  await limitPages(world, 1)
  await until(async () => (await send(world, 'x'.repeat(1600))).status === 503)
  const refuse = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) expect((await send(world, 'x'.repeat(1600))).status).toBe(503)
  }
  await refuse(30)
  const about = (): string[] => lines.filter((line) => /the storage fails|request failed/.test(line))
  expect(about()).toHaveLength(1)
  clock.advance(60_000)
  await refuse(5)
  expect(about()).toHaveLength(2)
  expect(JSON.parse(about()[1] ?? '')).toMatchObject({ level: 'error', code: 'SQLITE_FULL', failures: 31 })
})

test('while nothing can be written, queues, jobs, timers and alerts add no lines of their own to the log', async () => {
  const { log, lines } = recordedLog()
  const clock = manualClock(Date.now())
  await using world = await createWorld({ log, clock })
  const { gate } = world.gateway.database
  await world.secondApp('http://127.0.0.1:9/')
  await world.send({ to: '+15555550198' })
  await world.send({ sendAt: new Date(clock.now() + 5000).toISOString() })
  const token = await subscribe(world)
  await postEvent(world, token, smsEvent())
  await gate.execute('PRAGMA query_only = ON')
  const begun = lines.length
  for (let second = 0; second < 90; second++) {
    if (second % 10 === 0) expect((await send(world, 'refused')).status).toBe(503)
    clock.advance(1000)
    // What has become due tries to write, and fails.
    for (let step = 0; step < 5; step++) await gate.execute('SELECT 1')
  }
  const logged = lines.slice(begun).map((line) => JSON.parse(line) as { level: string; msg: string; error?: string })
  const serious = logged.filter(({ level }) => level !== 'debug' && level !== 'info').map(({ msg }) => msg)
  expect(serious.filter((msg) => msg !== 'alert')).toEqual([
    expect.stringContaining('the storage fails'),
    expect.stringContaining('the storage fails'),
  ])
  const repeats = logged.filter(({ level, error }) => level === 'debug' && error?.includes('SQLITE_READONLY'))
  expect(new Set(repeats.map(({ msg }) => msg)).size).toBeGreaterThan(2)
  await gate.execute('PRAGMA query_only = OFF')
})
