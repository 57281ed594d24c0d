import { expect, test } from 'bun:test'
import { FROM, type World, createWorld, until } from '../../support/world.ts'

const OTHER_FROM = '+15555550177'
/** More than may send at once while all are quick. */
const MANY = 70
const HANG = { calls: null, fault: { kind: 'hang' } } as const

/** A second tenant with an extension of its own; answers how its message ends, well before a hanging call does. */
async function withNeighbour(world: World): Promise<() => Promise<unknown>> {
  const { tenantId, apiKey: key } = await world.otherTenant()
  const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: [OTHER_FROM] })
  await world.connect({ tenantId, extensionId })
  return async () => {
    const id = await world.send({ from: OTHER_FROM, body: crypto.randomUUID() }, { key })
    return (await world.untilStatus(id, ['sent', 'failed'], 3000, { key }))['status']
  }
}

const sendMany = (world: World, from: string, length = MANY): Promise<string[]> =>
  Promise.all(Array.from({ length }, (_, index) => world.send({ from, body: `waits ${index}` })))

test('a slow token refresh holds up nobody else', async () => {
  await using world = await createWorld({ env: { PROVIDER_TIMEOUT: '4s' } })
  const neighbour = await withNeighbour(world)
  const sql = 'UPDATE extensions SET access_expires_at = ?1 WHERE tenant_id = ?2'
  await world.gateway.database.gate.execute({ sql, args: [Date.now() + 30_000, world.tenantId] })
  world.gateway.directory.forget(world.tenantId)
  world.control.fault({ route: 'token', calls: null, fault: { kind: 'delay', ms: 3500 } })
  const [first = ''] = await sendMany(world, FROM)
  expect(await neighbour()).toBe('sent')
  expect((await world.status(first))['status']).toBe('queued')
  // With the end of the refresh they go on, and not only when they would look again by themselves.
  expect((await world.untilStatus(first, ['sent', 'failed'], 9000))['status']).toBe('sent')
}, 20_000)

test('a look for an unknown number that hangs holds up nobody else', async () => {
  await using world = await createWorld({ env: { PROVIDER_TIMEOUT: '4s' } })
  const neighbour = await withNeighbour(world)
  const alice = world.control.extensions().find(({ name }) => name === 'Alice')
  world.control.fault({ route: '*', extensionId: alice?.extensionId ?? '', ...HANG })
  const ids = await sendMany(world, '+15555550123')
  expect(await neighbour()).toBe('sent')
  world.control.clearFaults()
  for (const id of [ids[0] ?? '', ids.at(-1) ?? ''])
    expect(await world.untilStatus(id, ['sent', 'failed'], 15_000)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('+15555550123'),
    })
}, 30_000)

test('a message store that hangs keeps no other extension from settling', async () => {
  await using world = await createWorld({
    env: {
      PROVIDER_TIMEOUT: '20s',
      RECONCILE_SETTLE: '1s',
      FROM_LIMIT_PER_MINUTE: '1000',
      EXTENSION_LIMIT_PER_MINUTE: '1000',
    },
  })
  const neighbour = await withNeighbour(world)
  const extensionId = world.control.extensions().find(({ name }) => name === 'Alice')?.extensionId ?? ''
  const cut = { calls: null, fault: { kind: 'accept-then-reset' } } as const
  world.control.fault({ route: 'message-store', extensionId, ...HANG })
  world.control.fault({ route: 'sms', extensionId, ...cut })
  const ids = await sendMany(world, FROM)
  const sql = `SELECT 1 FROM jobs WHERE kind = 'settle'`
  await until(async () => (await world.gateway.database.gate.execute(sql)).rows.length === MANY, 9000)
  await until(() => world.control.requests({ route: 'message-store' }).length > 0)
  world.control.fault({ route: 'sms', ...cut })
  expect(await neighbour()).toBe('sent')
  for (const id of ids) expect((await world.status(id))['status']).not.toBe('sent')
}, 30_000)

test('as many sends may hang as Bun makes calls at once, but for some that others need', async () => {
  const limits = { FROM_LIMIT_PER_MINUTE: '1000', EXTENSION_LIMIT_PER_MINUTE: '1000', PROVIDER_TIMEOUT: '4s' }
  await using world = await createWorld({ env: { ...limits, BUN_CONFIG_MAX_HTTP_REQUESTS: '150' } })
  world.control.fault({ route: 'sms', ...HANG })
  await sendMany(world, FROM, 2 * MANY)
  const sql = `SELECT count(*) FILTER (WHERE status = 'sending') AS sending, count(*) AS messages FROM messages`
  const sending = async () => (await world.gateway.database.gate.execute(sql)).rows[0]
  await until(async () => Number((await sending())?.['sending']) >= 134)
  // All of them are slow by now, and make no more room.
  await until(() => world.gateway.sendPlaces.max === 134)
  expect(await sending()).toEqual({ sending: 134, messages: 140 })
}, 20_000)

test('while a crowd is being answered, sends that hang hold up nobody else either', async () => {
  await using world = await createWorld({ env: { PROVIDER_TIMEOUT: '4s' } })
  const neighbour = await withNeighbour(world)
  const extensionId = world.control.extensions().find(({ name }) => name === 'Alice')?.extensionId ?? ''
  world.control.fault({ route: 'sms', extensionId, ...HANG })
  world.gateway.traffic.answering += 20
  await sendMany(world, FROM)
  expect(await neighbour()).toBe('sent')
}, 20_000)

test('a request that is answered, refused or broken off is counted no more', async () => {
  await using world = await createWorld()
  await Promise.all([
    world.send(),
    world.call('POST', '/v1/sms/send', { body: 'not JSON' }),
    world.call('POST', '/v1/sms/send', { key: null }),
    world.call('OPTIONS', '/v1/sms/send', { headers: { origin: 'https://example.com' } }),
    world.call('GET', '/nowhere'),
  ])
  await until(() => world.gateway.traffic.answering === 0)
})

test('requests whose bodies do not come are no crowd', async () => {
  await using world = await createWorld()
  const remaining = async (): Promise<string | undefined> =>
    /r=(\d+)/.exec((await world.call('GET', '/v1/apps')).headers.get('ratelimit') ?? '')?.[1]
  const head = `POST /v1/sms/send HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${world.key}\r\nContent-Length: 99\r\n\r\n{`
  const { hostname, port } = new URL(world.url)
  const before = Number(await remaining())
  const sockets = await Promise.all(
    Array.from({ length: 20 }, () => Bun.connect({ hostname, port: Number(port), socket: { data: () => undefined } })),
  )
  for (const socket of sockets) socket.write(head)
  await until(async () => Number(await remaining()) <= before - 20)
  expect(world.gateway.traffic.answering).toBe(0)
  for (const socket of sockets) socket.end()
})

test('when the mark of a first attempt cannot be written, its message is settled and its number goes on', async () => {
  await using world = await createWorld({ env: { RECONCILE_SETTLE: '1s' } })
  const { mark, jobs } = world.gateway
  const reserve = jobs.reserve.bind(jobs)
  const note = mark.noteBegun.bind(mark)
  const seen = { reserved: false, failures: 0 }
  jobs.reserve = (...where) => {
    const place = reserve(...where)
    seen.reserved = place !== null
    return place
  }
  mark.noteBegun = (number) => {
    if (seen.reserved && seen.failures++ === 0) throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' })
    return note(number)
  }
  const sent = async (body: string): Promise<unknown> =>
    (await world.untilStatus(await world.send({ body }), ['sent', 'failed'], 9000))['status']
  // The first ones may have to wait until their number is known.
  for (let number = 0; seen.failures === 0; number++) expect(await sent(`message ${number}`)).toBe('sent')
  expect(await sent('the next one')).toBe('sent')
}, 20_000)
