import { expect, spyOn, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { type SocketClient, type SocketMessage, listenTo } from '../../support/socket.ts'
import { FROM, FROM_2, TO, type World, createWorld, until } from '../../support/world.ts'

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

test('sockets have the events of the log in the order of the log', async () => {
  // On a busy machine the last messages of the unknown number wait 10 s for a number lookup. By then deliveries would be known.
  await using world = await createWorld({ env: { DELIVERY_TRACKING: 'off' } })
  world.control.setLimits({ enabled: false })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const first = (await until(() => socket.cursors[0])).cursor
  const contacts = Array.from({ length: 15 }, (_, index) => `+1555555${4000 + index}`)
  await Promise.all(
    contacts.flatMap((contact, index) => [
      world.send({ to: contact, from: index % 2 === 0 ? FROM : FROM_2 }),
      world.send({ to: contact, from: '+15555550160' }),
      world.control.injectSms({ from: contact, to: FROM, text: index % 3 === 0 ? 'STOP' : 'hello' }),
      world.json('PUT', '/v1/opt-outs', { body: { number: FROM_2, contact, optedOut: index % 4 === 0 } }),
    ]),
  )
  const all = await until(async () => {
    const events = await eventsAfter(world, first)
    return events.length === 15 * 7 + 5 + 4 ? events : null
  }, 25_000)
  expect((await socket.received(1 + all.length)).slice(1)).toEqual(all)
})

test('events of a commit that seemed to fail are published, in their place', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const first = (await until(() => socket.cursors[0])).cursor
  const { gate } = world.gateway.database
  const batch = gate.batch.bind(gate)
  const failing = spyOn(gate, 'batch').mockImplementationOnce(async (statements) => {
    await batch(statements)
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
  })
  const body = { from: FROM, to: TO, body: 'stored all the same' }
  expect((await world.call('POST', '/v1/sms/send', { body })).status).toBe(503)
  failing.mockRestore()
  await socket.received(2)
  const last = await world.send()
  const events = (await socket.received(3)).slice(1)
  expect(events.at(-1)).toMatchObject({ messageId: last, status: 'queued' })
  expect(events).toEqual(await eventsAfter(world, first))
})

test('a log that cannot be read is read again after a second', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const { gate } = world.gateway.database
  const values = gate.values.bind(gate)
  let failed = 0
  const failing = spyOn(gate, 'values').mockImplementation((statement) => {
    if (!(typeof statement === 'string' ? statement : statement.sql).includes('FROM events')) return values(statement)
    failed++
    return Promise.reject(new Error('disk I/O error'))
  })
  const messageId = await world.send()
  await until(() => failed > 0)
  failing.mockRestore()
  clock.advance(1000)
  expect((await socket.received(2))[1]).toMatchObject({ messageId, status: 'queued' })
})

test('a row of the log that cannot be read is left out', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const messageId = await world.send()
  await socket.received(2)
  const damaged = `INSERT INTO events (kinds, subject, at, detail) VALUES (32, ?1, 1, '{')`
  await world.gateway.database.writer.write([{ sql: damaged, args: [messageId] }])
  const next = await world.send()
  await until(() => {
    clock.advance(1000)
    return socket.ofType('sms_status').length === 2
  })
  expect(socket.messages.slice(2).map((message) => message['messageId'] ?? message['type'])).toContain(next)
})
