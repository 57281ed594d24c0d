import { expect, test } from 'bun:test'
import { readNumbersDaily } from '../../../src/messages/upkeep/extensions.ts'
import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import type { Finding } from '../../../src/operator/doctor/finding.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { FROM, FROM_2, TO, type World, createWorld, until } from '../../support/world.ts'

const TOLL_FREE = '+18885550100'

interface Health extends Record<string, unknown> {
  extensionId: string
  reason: string | null
  since: string | null
  fix: string | null
  subscription: { status: string; expiresAt: string | null }
}

const healthOf = async (world: World, key = world.key): Promise<Health[]> =>
  (await world.json<{ extensions: Health[] }>('GET', '/v1/rc/extensions/health', { key })).body.extensions

test('a healthy extension has no reason and no fix, and shows its rate windows, times and numbers', async () => {
  await using world = await createWorld({ env: { EXTENSION_LIMIT_PER_MINUTE: '7' } })
  const { extensionId, accountId } = world.control.extensions()[0] ?? { extensionId: '', accountId: '' }
  await world.untilStatus(await world.send())
  await world.control.injectSms({ to: FROM_2, from: TO, text: 'Hi' })
  const [inbound] = (
    await world.json<{ messages: { createdAt: string }[] }>('GET', '/v1/sms/messages?direction=inbound')
  ).body.messages
  const [health, ...others] = await healthOf(world)
  expect(others).toEqual([])
  expect(health).toEqual({
    extensionId,
    rcAccountId: accountId,
    extensionNumber: '101',
    name: 'Alice',
    status: 'active',
    reason: null,
    since: null,
    fix: null,
    connectedBy: 'link',
    phoneNumbers: [FROM, FROM_2],
    numbers: [FROM, FROM_2].map((phoneNumber) => ({
      phoneNumber,
      usageType: 'DirectNumber',
      canSendMedia: true,
      inbound: 'here',
      campaign: null,
    })),
    windowUsed: 2,
    windowLimit: 7,
    pausedUntil: null,
    subscription: { status: 'active', expiresAt: expect.any(String) as never },
    accessExpiresAt: expect.any(String),
    refreshExpiresAt: expect.any(String),
    sessionExpiresAt: null,
    lastInboundAt: inbound?.createdAt,
  })
  for (const time of [health?.subscription.expiresAt, health?.['accessExpiresAt'], health?.['refreshExpiresAt']])
    expect(Date.parse(String(time))).toBeGreaterThan(Date.now())
  const stranger = await world.otherTenant()
  expect(await healthOf(world, stranger.apiKey)).toEqual([])
})

test('a number that sends no media is named by the health of its extension and by the doctor, and one that is not known by neither', async () => {
  await using world = await createWorld()
  const { gateway, control } = world
  const canSendMedia = async (): Promise<unknown> =>
    (await healthOf(world))
      .flatMap((one) => one['numbers'] as { canSendMedia: unknown }[])
      .map((one) => one.canSendMedia)
  const numbers = async (): Promise<Finding | undefined> =>
    (await diagnose(gateway)).find(({ check }) => check === 'numbers')
  const [{ extensionId } = { extensionId: '' }] = control.extensions()
  expect((await numbers())?.detail).toBe('2 that can send')
  control.addNumber({ extensionId, phoneNumber: TOLL_FREE })
  expect(await gateway.numbers.readAll(world.tenantId)).toBe(true)
  expect(await canSendMedia()).toEqual([true, true, false])
  const campaign = '; campaign: LowVolume, 6,000 texts a day over all its numbers'
  await until(async () => (await numbers())?.detail.endsWith(campaign))
  expect(await numbers()).toMatchObject({
    level: 'ok',
    detail: `3 that can send; without pictures, because RingCentral gives no MmsSender (it never does for toll-free numbers): ${TOLL_FREE}${campaign}`,
  })
  await gateway.database.gate.execute('UPDATE phone_numbers SET sends_media = NULL')
  gateway.directory.forget(world.tenantId)
  expect(await canSendMedia()).toEqual([null, null, null])
  expect((await numbers())?.detail).toBe(`3 that can send${campaign}`)
})

test('every problem is named with its fix: revoked, refresh failed, refused, not receiving', async () => {
  const clock = manualClock()
  await using world = await createWorld({ work: false, clock })
  world.gateway.lifecycle.working = true
  const { gateway, tenantId } = world
  const now = (): string => new Date(clock.now()).toISOString()
  const change = async (sql: string): Promise<Health | undefined> => {
    await gateway.database.gate.execute(sql)
    gateway.directory.forget(tenantId)
    return (await healthOf(world))[0]
  }
  const expired = await change('UPDATE subscriptions SET expires_at = 1000')
  expect(expired?.since).toBe('1970-01-01T00:00:01.000Z')
  expect(expired?.subscription).toEqual({ status: 'expired', expiresAt: '1970-01-01T00:00:01.000Z' })
  expect([expired?.reason, expired?.fix]).toEqual([
    'It has no active subscription, so its messages arrive up to a minute late',
    expect.stringContaining('/v1/webhooks/provider') as never,
  ])
  expect((await change(`UPDATE subscriptions SET status = 'pending'`))?.subscription.status).toBe('pending')
  expect((await change('DELETE FROM subscriptions'))?.subscription).toEqual({ status: 'none', expiresAt: null })
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  const failure = {
    reason: 'rejected',
    status: 403,
    code: 'CMN-408',
    message: '',
    oauthError: null,
    retryAfterMs: null,
    requestId: null,
  } as const
  const refusedAt = now()
  for (let times = 0; times < 2; times++) {
    gateway.directory.refusals.note({ tenantId, extensionId, step: 'subscription', failure }, clock.now())
    clock.advance(1000)
  }
  const refused = (await healthOf(world))[0]
  expect(refused?.since).toBe(refusedAt)
  expect(refused?.reason).toBe(
    'The provider refused its subscription, so its messages arrive up to a minute late (403 CMN-408)',
  )
  expect(refused?.fix).toContain('permission ReadMessages')
  const failed = await change(`UPDATE extensions SET status = 'refresh_failed', next_refresh_at = 5000`)
  expect([failed?.reason, failed?.fix]).toEqual([
    'Its tokens could not be refreshed',
    expect.stringContaining('1970-01-01T00:00:05.000Z') as never,
  ])
  const revoked = await change(`UPDATE extensions SET status = 'revoked'`)
  expect([revoked?.reason, revoked?.fix]).toEqual([
    'Its authorization has ended',
    `Authorize it again with an invite link: sgw extensions invite --tenant ${world.tenantId}, or POST /v1/rc/invite-token.`,
  ])
})

test('a pause that the provider requested is shown until it ends', async () => {
  await using world = await createWorld()
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '30' } } })
  await world.send()
  const paused = await until(async () => (await healthOf(world))[0]?.['pausedUntil'])
  const leftMs = Date.parse(String(paused)) - Date.now()
  expect(leftMs).toBeGreaterThan(20_000)
  expect(leftMs).toBeLessThanOrEqual(30_000)
})

test('a failing authorization shows since when, through further failures and its end', async () => {
  const clock = manualClock()
  await using world = await createWorld({ work: false, clock })
  const key = { tenantId: world.tenantId, extensionId: world.control.extensions()[0]?.extensionId ?? '' }
  const since = async (): Promise<unknown> => (await healthOf(world))[0]?.since
  world.control.fault({ route: 'token', calls: 2, fault: { kind: 'respond', status: 500 } })
  clock.advance(1000)
  const failedAt = new Date(clock.now()).toISOString()
  await world.gateway.tokens.refresh(key)
  expect(await since()).toBe(failedAt)
  clock.advance(1000)
  await world.gateway.tokens.refresh(key)
  expect(await since()).toBe(failedAt)
  world.control.revokeTokens({ extensionId: key.extensionId })
  clock.advance(1000)
  const revokedAt = new Date(clock.now()).toISOString()
  await world.gateway.tokens.refresh(key)
  expect((await healthOf(world))[0]).toMatchObject({ status: 'revoked', since: revokedAt })
  await world.connect(key)
  expect(await since()).toBeNull()
})

test('the name is read again once a day', async () => {
  const clock = manualClock()
  await using world = await createWorld({ work: false, clock })
  await world.gateway.database.gate.execute('UPDATE extensions SET name = NULL, extension_number = NULL')
  world.gateway.directory.forget(world.tenantId)
  expect((await healthOf(world))[0]).toMatchObject({ name: null, extensionNumber: null })
  clock.advance(86_400_000)
  await readNumbersDaily(world.gateway)
  expect((await healthOf(world))[0]).toMatchObject({ name: 'Alice', extensionNumber: '101' })
})
