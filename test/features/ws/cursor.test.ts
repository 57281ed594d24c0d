import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { type SocketClient, type SocketMessage, listenTo } from '../../support/socket.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

const eventsAfter = async (world: World, cursor: string | undefined): Promise<SocketMessage[]> => {
  const { body } = await world.json<{ events: SocketMessage[]; gap: boolean }>(
    'GET',
    `/v1/events?limit=1000&after=${cursor}`,
  )
  expect(body.gap).toBe(false)
  return body.events
}

/** Waits for the cursor after the last event. */
const lastCursor = (world: World, socket: SocketClient, fromNow = 0): Promise<string> =>
  until(async () => {
    const cursor = socket.cursors.slice(fromNow).at(-1)?.cursor
    return cursor !== undefined && (await eventsAfter(world, cursor)).length === 0 ? cursor : null
  })

test('the first cursor follows auth_ok and marks the current end of the log', async () => {
  await using world = await createWorld()
  await world.untilStatus(await world.send())
  await using socket = await listenTo(world.url, { apiKey: world.key })
  await until(() => socket.cursors.length === 1)
  expect(await eventsAfter(world, socket.cursors[0]?.cursor)).toEqual([])
  const id = await world.send()
  await world.untilStatus(id)
  expect(await eventsAfter(world, socket.cursors[0]?.cursor)).toMatchObject(
    Array.from({ length: 3 }, () => ({ messageId: id })),
  )
})

test('the events before a cursor on the socket and the events after it in the log are all events', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  await until(() => socket.cursors.length === 1)
  const first = socket.cursors[0]?.cursor
  const receivedBefore: number[] = []
  for (let round = 0; round < 12; round++) {
    await world.send({ to: `+1555555${4000 + round}`, body: `number ${round}` })
    if (round % 4 === 0) await world.control.injectSms({ from: TO, to: FROM, text: `in ${round}` })
    clock.advance(250)
    await Bun.sleep(2)
    while (receivedBefore.length < socket.cursors.length) receivedBefore.push(socket.messages.length)
  }
  await until(() => (clock.advance(250), socket.cursors.length >= 2))
  while (receivedBefore.length < socket.cursors.length) receivedBefore.push(socket.messages.length)
  await socket.received(1 + 12 * 3 + 3)
  clock.advance(1000)
  await lastCursor(world, socket, 1)
  const all = await eventsAfter(world, first)
  const keyOf = (event: SocketMessage): string => JSON.stringify(event)
  expect(socket.messages.slice(1).map(keyOf).toSorted()).toEqual(all.map(keyOf).toSorted())
  expect(receivedBefore.length).toBeGreaterThanOrEqual(2)
  for (const [index, count] of receivedBefore.entries()) {
    const known = new Set(socket.messages.slice(1, count).map(keyOf))
    for (const event of await eventsAfter(world, socket.cursors[index]?.cursor)) known.add(keyOf(event))
    expect(known.size).toBe(all.length)
  }
})

test('cursors follow events at most once a second and within a second after the last, and other tenants get none', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const stranger = await world.otherTenant()
  await using socket = await listenTo(world.url, { apiKey: world.key })
  await using other = await listenTo(world.url, { apiKey: stranger.apiKey })
  await until(() => socket.cursors.length === 1 && other.cursors.length === 1)
  const times: number[] = []
  for (let step = 0; step < 60; step++) {
    if (step < 50) await world.send()
    const before = socket.cursors.length
    clock.advance(50)
    await Bun.sleep(2)
    if (socket.cursors.length > before) times.push(clock.now())
  }
  expect(times.length).toBeGreaterThanOrEqual(2)
  for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(1000)
  clock.advance(1000)
  const last = await lastCursor(world, socket)
  await Bun.sleep(20)
  const count = socket.cursors.length
  clock.advance(10_000)
  await Bun.sleep(20)
  expect(socket.cursors.slice(count)).toEqual([])
  expect(socket.cursors.at(-1)?.cursor).toBe(last)
  expect(other.cursors).toHaveLength(1)
})

test('a cursor waits for committed events that are not published; after five seconds its sockets get all of them', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const lost = await world.send()
  const sql = `UPDATE messages SET status = 'failed', error = 'gone', error_code = 'cancelled', updated_at = ?2 WHERE id = ?1`
  await world.gateway.database.writer.write([{ sql, args: [lost, clock.now()] }])
  const later = await world.send()
  const end = await world.send()
  await world.gateway.database.writer.write([{ sql, args: [later, clock.now()] }])
  await socket.received(4)
  const passTime = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100)
      await Bun.sleep(2)
    }
  }
  await passTime(3000)
  expect(socket.cursors.length).toBeGreaterThan(1)
  const waiting = await eventsAfter(world, socket.cursors.at(-1)?.cursor)
  expect(waiting.map((event) => [event['messageId'], event['status']])).toEqual([
    [lost, 'failed'],
    [later, 'queued'],
    [end, 'queued'],
    [later, 'failed'],
  ])
  await passTime(3000)
  const found = { status: 'failed', error: 'gone' }
  expect(socket.messages.slice(4)).toMatchObject([
    { messageId: lost, ...found },
    { messageId: later, ...found },
  ])
  await passTime(1100)
  await lastCursor(world, socket)
})
