import { describe, expect, test } from 'bun:test'
import { type DeliveryRow, endDeliveries, messageIdOf } from '../../support/delivery-rows.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { readyWorld, worldWithEmptyWindows } from '../../support/ready-world.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

const HOUR_MS = 3_600_000

interface Overview {
  [name: string]: unknown
  from: string
  totals: Record<string, number>
  previous: Record<string, number>
  buckets: { at: string; sent: number }[]
  waiting: { reason: string; count: number; began: string | null }[]
}

const overview = async (world: World, query = '', key = world.key): Promise<Overview> =>
  (await world.json<Overview>('GET', `/v1/overview${query}`, { key })).body

test('a day has 48 half hours, totals, the previous day, latencies and errors', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  await world.gateway.database.gate.execute('DELETE FROM usage')
  await world.untilStatus(await world.send())
  clock.advance(30 * HOUR_MS)
  const once = { headers: { 'idempotency-key': 'once' } }
  await world.untilStatus(await world.send({}, once))
  await world.send({}, once)
  await world.untilStatus(await world.send({ from: '+15555550777' }), ['failed'])
  await world.send({ sendAt: new Date(clock.now() + HOUR_MS).toISOString() })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hi' })
  const now = await until(async () => {
    const found = await overview(world)
    return found.totals['received'] === 1 && found
  })
  const none = { cancelled: 0, delivered: 0, undelivered: 0 }
  expect(now).toMatchObject({
    from: '2026-11-21T09:00:00.000Z',
    to: '2026-11-22T08:30:00.000Z',
    totals: { accepted: 3, sent: 1, failed: 1, received: 1, ...none },
    previous: { accepted: 1, sent: 1, failed: 0, received: 0, ...none },
    queued: 1,
    scheduled: 1,
    oldestQueuedAt: null,
    waiting: [{ reason: 'scheduled', count: 1 }],
    errors: [{ count: 1, error: 'Phone number +15555550777 is not registered in this provider account' }],
    destinations: [],
  })
  expect(now['p50Ms']).toBe(now['p95Ms'])
  expect(now.buckets).toHaveLength(48)
  expect(now.buckets.at(-1)).toEqual({ at: '2026-11-22T08:30:00.000Z', sent: 1, failed: 1, received: 1 } as never)
})

test('every range has 48 buckets, and hours are clamped', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const lengths: [string, number][] = [
    ...([
      ['', 24],
      ['?hours=24', 24],
      ['?hours=1', 24],
      ['?hours=x', 24],
      ['?hours=-5', 24],
    ] as [string, number][]),
    ...([
      ['?hours=25', 48],
      ['?hours=+48', 48],
      ['?hours=168', 168],
      ['?hours=2160', 2160],
      ['?hours=99999999', 2160],
    ] as [string, number][]),
  ]
  for (const [query, hours] of lengths) {
    const { from, buckets } = await overview(world, query)
    const stepMs = (hours * HOUR_MS) / 48
    expect([query, buckets.length, buckets[0]?.at]).toEqual([query, 48, from])
    expect(Date.parse(buckets[1]?.at ?? '') - Date.parse(from)).toBe(stepMs)
    expect(Date.parse(from) % stepMs).toBe(0)
    expect(Date.parse(from) + 48 * stepMs).toBeGreaterThan(clock.now())
  }
})

test('waiting messages are counted by reason, and a tenant sees only its own', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock, env: { FROM_LIMIT_PER_MINUTE: '2' } })
  clock.advance(60_000)
  const ids: string[] = []
  const acceptedAt: string[] = []
  for (let index = 0; index < 6; index++) {
    ids.push(await world.send({ to: `+1555555020${index}` }))
    acceptedAt.push(new Date(clock.now()).toISOString())
    clock.advance(10)
  }
  for (const id of ids.slice(0, 2)) await world.untilStatus(id)
  const now = await until(async () => {
    const found = await overview(world)
    return found['queued'] === 4 && found
  })
  expect(now).toMatchObject({ queued: 4, scheduled: 0, oldestQueuedAt: acceptedAt[2] })
  expect(now.waiting).toMatchObject([
    { reason: 'order', count: 3, since: acceptedAt[3] },
    { reason: 'number_limit', count: 1, since: acceptedAt[2] },
  ])
  // Each message shows the same reason.
  const { body } = await world.json<{ messages: { waiting: { reason: string } }[] }>(
    'GET',
    '/v1/sms/messages?status=queued&include=delivery',
  )
  expect(body.messages.map(({ waiting }) => waiting.reason).toSorted()).toEqual([
    'number_limit',
    'order',
    'order',
    'order',
  ])
  const other = await world.otherTenant()
  const theirs = await overview(world, '', other.apiKey)
  expect(theirs).toMatchObject({ queued: 0, waiting: [], errors: [], destinations: [], p50Ms: null, p95Ms: null })
  expect(theirs.totals['accepted']).toBe(0)
})

test('cancelled messages are a part of the failed ones, of the own tenant, in this range and the one before', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const other = await world.otherTenant()
  const cancel = async (key = world.key): Promise<void> => {
    const id = await world.send({ sendAt: new Date(clock.now() + HOUR_MS).toISOString() }, { key })
    expect((await world.call('DELETE', `/v1/sms/${id}`, { key })).status).toBe(200)
    expect((await world.call('DELETE', `/v1/sms/${id}`, { key })).status).toBe(409)
  }
  await cancel()
  clock.advance(24 * HOUR_MS)
  await cancel()
  await cancel()
  await cancel(other.apiKey)
  const { totals, previous } = await overview(world)
  expect([totals, previous]).toMatchObject([
    { failed: 2, cancelled: 2 },
    { failed: 1, cancelled: 1 },
  ])
  expect(await overview(world, '', other.apiKey)).toMatchObject({
    totals: { failed: 1, cancelled: 1 },
    previous: { failed: 0, cancelled: 0 },
  })
})

describe('a reason to wait began', () => {
  const began = async (world: World, reason: string): Promise<string | null> =>
    until(async () => (await overview(world)).waiting.find((each) => each.reason === reason) ?? null).then(
      (each) => each.began,
    )

  test('when the provider asked to wait, however long its messages wait', async () => {
    const { world, clock } = await worldWithEmptyWindows()
    await using _ = world
    clock.advance(1000)
    const at = new Date(clock.now()).toISOString()
    const headers = { 'Retry-After': '90' }
    world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers } })
    await world.send()
    expect(await began(world, 'provider_paused')).toBe(at)
    clock.advance(30_000)
    await world.send()
    expect(await began(world, 'provider_paused')).toBe(at)
    // Nothing is paused for a message that waits for its time.
    await world.send({ sendAt: new Date(clock.now() + HOUR_MS).toISOString() })
    expect(await began(world, 'scheduled')).toBeNull()
  })

  test('before the last start, so that nobody knows when', async () => {
    const { world, clock } = await worldWithEmptyWindows()
    await using _ = world
    const headers = { 'Retry-After': '600' }
    world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers } })
    await world.send()
    expect(await began(world, 'provider_paused')).toEqual(expect.any(String))
    await world.running.stop()
    await using second = await createWorld({ clock, folder: world.folder, connect: false })
    const paused = await until(async () =>
      (await overview(second, '', world.key)).waiting.find(({ reason }) => reason === 'provider_paused'),
    )
    expect(paused).toMatchObject({ count: 1, began: null })
  })

  test('with the first call that did not reach the provider, until one does', async () => {
    const { world, clock } = await worldWithEmptyWindows()
    await using _ = world
    const at = new Date(clock.now()).toISOString()
    world.control.fault({ route: 'sms', calls: 2, fault: { kind: 'respond', status: 503 } })
    const id = await world.send()
    const calls = (): number => world.control.requests({ route: 'sms' }).length
    expect(await began(world, 'provider_unreachable')).toBe(at)
    await until(() => {
      clock.advance(500)
      return calls() === 2
    })
    expect(await began(world, 'provider_unreachable')).toBe(at)
    await until(async () => {
      clock.advance(500)
      return (await world.status(id))['status'] === 'sent'
    })
    clock.advance(1000)
    const again = new Date(clock.now()).toISOString()
    world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 503 } })
    await world.send()
    expect(await began(world, 'provider_unreachable')).toBe(again)
  })

  test('when a message that was answered 503 five times was held alone', async () => {
    const { world, clock } = await worldWithEmptyWindows()
    await using _ = world
    const { provider } = world.gateway
    const send = provider.sendSms
    const ended: number[] = []
    provider.sendSms = async (token, message) => {
      const result = await send(token, message)
      ended.push(clock.now())
      return result
    }
    world.control.fault({ route: 'sms', calls: 5, fault: { kind: 'respond', status: 503 } })
    await world.send()
    await until(() => {
      clock.advance(500)
      return ended.length === 5
    })
    // The extension itself is reached again.
    await world.untilStatus(await world.send({ to: '+15555550177' }))
    expect(await began(world, 'provider_unreachable')).toBe(new Date(ended[4] ?? 0).toISOString())
  })

  test('when its tokens could not be refreshed', async () => {
    const { world, clock } = await worldWithEmptyWindows()
    await using _ = world
    const [extensionId = ''] = (await world.gateway.directory.tenant(world.tenantId)).extensions.keys()
    world.control.expireTokens({ extensionId })
    world.control.fault({ route: 'token', calls: null, fault: { kind: 'respond', status: 503 } })
    const at = new Date(clock.now()).toISOString()
    await world.send()
    expect(await began(world, 'reauthorization')).toBe(at)
  })
})

test('webhook attempts are counted by destination', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { appId } = world.app
  await world.call('PUT', `/v1/apps/${appId}`, { body: { webhookUrl: 'http://one.example/' } })
  const at = Date.now() - 10_000
  const app = { kind: 'app', targetId: appId, url: 'http://one.example/' } as const
  const trigger = { kind: 'trigger', targetId: 'trg_1', url: 'http://two.example/' } as const
  const end = (n: number, attempt: Omit<DeliveryRow, 'messageId' | 'attemptedAt'>): Promise<void> =>
    endDeliveries(world, [{ ...attempt, messageId: messageIdOf(n), attemptedAt: at + n }])
  await end(1, { ...app, outcome: 'http_error', statusCode: 500, durationMs: 95 })
  await end(2, { ...app, outcome: 'success', statusCode: 200, durationMs: 90 })
  await end(3, { ...app, outcome: 'timeout', durationMs: 5003 })
  await end(4, { ...app, outcome: 'http_error', statusCode: 503, durationMs: 310 })
  await end(5, { ...trigger, outcome: 'network_error', durationMs: 3 })
  await end(6, { ...trigger, outcome: 'success', statusCode: 204, durationMs: 310 })
  const { destinations } = await overview(world)
  const one = { url: 'http://one.example/', kind: 'app', appId, success: 1, failed: 3, p95Ms: 4871 }
  const two = { url: 'http://two.example/', kind: 'trigger', triggerId: 'trg_1', success: 1, failed: 1, p95Ms: 304 }
  expect(destinations).toEqual([
    {
      ...one,
      failingSince: new Date(at + 3).toISOString(),
      failures: 2,
      lastOutcome: 'http_error',
      lastStatusCode: 503,
      neverArrived: 3,
      neverArrivedSince: new Date(at + 1).toISOString(),
    },
    { ...two, failingSince: null, failures: 0, lastOutcome: 'success', lastStatusCode: 204, ...NOTHING_LOST },
  ])
  await world.call('PUT', `/v1/apps/${appId}`, { body: { webhookUrl: 'http://moved.example/' } })
  const [moved] = (await overview(world)).destinations as object[]
  expect(moved).toMatchObject({ url: 'http://moved.example/', success: 1, failed: 3 })
  await world.call('PUT', `/v1/apps/${appId}`, { body: { webhookUrl: null } })
  const [unused] = (await overview(world)).destinations as object[]
  const last = { lastOutcome: 'http_error', lastStatusCode: 503 }
  expect(unused).toEqual({ ...one, failingSince: null, failures: 0, ...last, ...NOTHING_LOST })
})

const NOTHING_LOST = { neverArrived: 0, neverArrivedSince: null }

test('a destination where a delivery never arrived is listed, however long ago it was used last', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { appId } = world.app
  await world.call('PUT', `/v1/apps/${appId}`, { body: { webhookUrl: 'http://one.example/' } })
  const at = Date.now() - 20 * 86_400_000
  const target = { kind: 'app', targetId: appId, url: 'http://before.example/' } as const
  await endDeliveries(world, [
    { ...target, outcome: 'http_error', statusCode: 500, messageId: messageIdOf(1), attemptedAt: at },
    { ...target, outcome: 'success', statusCode: 200, messageId: messageIdOf(2), attemptedAt: at + 1 },
  ])
  expect((await overview(world)).destinations).toEqual([
    {
      url: 'http://one.example/',
      kind: 'app',
      appId,
      success: 0,
      failed: 0,
      p95Ms: null,
      failingSince: null,
      failures: 0,
      lastOutcome: 'success',
      lastStatusCode: 200,
      neverArrived: 1,
      neverArrivedSince: new Date(at).toISOString(),
    },
  ])
})

test('90 days with much usage have their totals', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const { gate } = world.gateway.database
  const halfHour = Math.floor(clock.now() / 1_800_000)
  const hours = `WITH RECURSIVE h(i) AS (SELECT ${halfHour} UNION ALL SELECT i - 1 FROM h WHERE i > ${halfHour} - 999),
    l(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM l WHERE j < 30)`
  await gate.execute(`${hours} INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, accepted, sent)
    SELECT '${world.tenantId}', i, 'app_1', j, 1, 1 FROM h, l`)
  await gate.execute(`${hours} INSERT INTO usage_errors SELECT '${world.tenantId}', i, 'error ' || j, j, i FROM h, l`)
  await gate.execute(`${hours} INSERT INTO usage_destinations
    SELECT '${world.tenantId}', i, 'trg_' || j, 5, 'trigger', 'https://' || i || '.example/', 1, 2 FROM h, l`)
  const found = await overview(world, '?hours=2160')
  const { body } = await world.json<{ days: { sent: number }[] }>('GET', '/v1/usage?startDate=2026-10-01')
  expect(found.totals['sent']).toBe(30_000)
  expect(body.days.reduce((sum, { sent }) => sum + sent, 0)).toBe(30_000)
  expect(found['errors']).toMatchObject([
    { error: 'error 30', count: 30_000 },
    { error: 'error 29' },
    ...Array.from({ length: 8 }, () => ({})),
  ])
  const destinations = found['destinations'] as { url: string; success: number; failed: number }[]
  expect(destinations).toHaveLength(30)
  expect(destinations[0]).toMatchObject({ url: `https://${halfHour}.example/`, success: 1000, failed: 2000, p95Ms: 5 })
  expect(found['p95Ms']).toBe(29)
})

test('messages that wait in very many queues are counted together', async () => {
  await using world = await createWorld({ clock: manualClock(), work: false })
  const numbers = Array.from({ length: 600 }, (_, index) => `+1555777${1000 + index}`)
  for (const from of numbers) await world.send({ from })
  const found = await overview(world)
  expect(found['queued']).toBe(600)
  expect(found.waiting).toMatchObject([{ reason: 'number_lookup', count: 600 }])
})

test('of very many destinations, the overview has those that were used last', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const { gate } = world.gateway.database
  const halfHour = Math.floor(clock.now() / 1_800_000)
  await gate.execute(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
    INSERT INTO usage_destinations
    SELECT '${world.tenantId}', CAST(${halfHour} - i / 250 AS INTEGER), 'trg_' || i, 5, 'trigger', 'https://a.example/', 1, 0 FROM n`)
  const destinations = (await overview(world))['destinations'] as { triggerId: string }[]
  expect(destinations).toHaveLength(1000)
  expect(destinations.every(({ triggerId }) => Number(triggerId.slice(4)) < 1000)).toBe(true)
})
