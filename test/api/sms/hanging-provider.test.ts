import { expect, test } from 'bun:test'
import { holdCalls } from '../../support/held-calls.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { FROM, type World, createWorld, until } from '../../support/world.ts'

const OTHER_FROM = '+15555550177'
/** More than the number of quick sends that may run at once. */
const MANY = 70
const HANG = { calls: null, fault: { kind: 'hang' } } as const

/** Longer than any test. A call that hangs ends with its world. */
const NEVER = '60s'

/**
 * Creates a second tenant with an extension of its own. Returns a function that sends its message and returns the final
 * status.
 */
async function withNeighbour(world: World): Promise<() => Promise<unknown>> {
  const { tenantId, apiKey: key } = await world.otherTenant()
  const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: [OTHER_FROM] })
  await world.connect({ tenantId, extensionId })
  return async () => {
    const id = await world.send({ from: OTHER_FROM, body: crypto.randomUUID() }, { key })
    return (await world.untilStatus(id, ['sent', 'failed'], 20_000, { key }))['status']
  }
}

const sendMany = (world: World, from: string, length = MANY): Promise<string[]> =>
  Promise.all(
    Array.from({ length }, (_, index) => world.send({ from, to: `+1555777${1000 + index}`, body: `waits ${index}` })),
  )

test('a slow token refresh delays no other tenant', async () => {
  await using world = await createWorld()
  const neighbour = await withNeighbour(world)
  const sql = 'UPDATE extensions SET access_expires_at = ?1, refreshed_at = 0 WHERE tenant_id = ?2'
  await world.gateway.database.gate.execute({ sql, args: [Date.now() + 30_000, world.tenantId] })
  world.gateway.directory.forget(world.tenantId)
  const release = holdCalls(world, 'refresh')
  const [first = ''] = await sendMany(world, FROM)
  expect(await neighbour()).toBe('sent')
  expect((await world.status(first))['status']).toBe('queued')
  // The end of the refresh wakes the messages.
  release()
  expect((await world.untilStatus(first))['status']).toBe('sent')
})

test('a number lookup that hangs delays no other tenant', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const neighbour = await withNeighbour(world)
  const release = holdCalls(world, 'listNumbers')
  const ids = await sendMany(world, '+15555550123')
  expect(await neighbour()).toBe('sent')
  release()
  const failed = { status: 'failed', error: expect.stringContaining('+15555550123') as string }
  for (const id of [ids[0] ?? '', ids.at(-1) ?? '']) {
    // Numbers are looked up at most every ten seconds.
    const ended = async () => (clock.advance(1000), (await world.status(id))['status'] === 'failed')
    await until(ended)
    expect(await world.status(id)).toMatchObject(failed)
  }
})

test('a message store that hangs delays no lookup of another extension', async () => {
  await using world = await createWorld({
    env: {
      PROVIDER_TIMEOUT: NEVER,
      RECONCILE_SETTLE: '300ms',
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
  const sql = `SELECT 1 FROM send_attempts WHERE outcome = 'unknown'`
  await until(async () => (await world.gateway.database.gate.execute(sql)).rows.length === MANY)
  await until(() => world.control.requests({ route: 'message-store' }).length > 0)
  world.control.fault({ route: 'sms', ...cut })
  expect(await neighbour()).toBe('sent')
  for (const id of ids) expect((await world.status(id))['status']).not.toBe('sent')
})

test('hanging sends use all parallel calls that Bun allows, except a reserve for other calls', async () => {
  const limits = { FROM_LIMIT_PER_MINUTE: '1000', EXTENSION_LIMIT_PER_MINUTE: '1000', PROVIDER_TIMEOUT: NEVER }
  await using world = await createWorld({ env: { ...limits, BUN_CONFIG_MAX_HTTP_REQUESTS: '150' } })
  world.control.fault({ route: 'sms', ...HANG })
  await sendMany(world, FROM, 2 * MANY)
  const sql = `SELECT count(*) FILTER (WHERE status = 'sending') AS sending, count(*) AS messages FROM messages`
  const sending = async () => (await world.gateway.database.gate.execute(sql)).rows[0]
  await until(async () => Number((await sending())?.['sending']) >= 134)
  // A call beyond the limit would begin now.
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  expect(await sending()).toEqual({ sending: 134, messages: 140 })
})

test('sends that hang delay no other tenant under high load', async () => {
  await using world = await createWorld({ env: { PROVIDER_TIMEOUT: NEVER } })
  const neighbour = await withNeighbour(world)
  const extensionId = world.control.extensions().find(({ name }) => name === 'Alice')?.extensionId ?? ''
  world.control.fault({ route: 'sms', extensionId, ...HANG })
  world.gateway.traffic.answering += 20
  await sendMany(world, FROM)
  expect(await neighbour()).toBe('sent')
})

test('a request that is answered, refused or aborted no longer counts as open', async () => {
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

test('requests whose bodies never arrive do not count as high load', async () => {
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

test('if the mark of an attempt cannot be written, its message is looked up and its number keeps sending', async () => {
  await using world = await createWorld({ env: { RECONCILE_SETTLE: '300ms' } })
  const { restoreMark } = world.gateway
  const note = restoreMark.noteAttempt.bind(restoreMark)
  let failures = 0
  restoreMark.noteAttempt = (seq) => {
    if (failures++ === 0) throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' })
    return note(seq)
  }
  const unmarked = await world.send({ body: 'unmarked' })
  await until(() => failures === 1)
  const next = await world.send({ to: '+15555550188', body: 'the next one' })
  expect(await world.untilStatus(next)).toMatchObject({ status: 'sent' })
  expect(await world.untilStatus(unmarked)).toMatchObject({ status: 'sent' })
  const texts = world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)
  expect(texts).toEqual(['the next one', 'unmarked'])
})
