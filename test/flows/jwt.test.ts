import { expect, test } from 'bun:test'
import { operate } from '../support/operator.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { type World, type WorldOptions, createWorld, recordedLog, until } from '../support/world.ts'

const HOUR = 3_600_000
const MINUTE = 60_000
const CONNECT_AGAIN = (tenantId: string): string => `sgw extensions connect-jwt --tenant ${tenantId} --jwt-file FILE`

interface Connected extends AsyncDisposable {
  world: World
  clock: ManualClock
  jwt: string
  extensionId: string
}

/** A gateway whose extension a JWT has connected, on a clock that only the test moves. */
async function open(prepare: (world: World) => unknown = () => undefined, options: WorldOptions = {}) {
  const clock = manualClock()
  const world = await createWorld({ connect: false, clock, ...options })
  world.control.setLimits({ enabled: false })
  prepare(world)
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  const { jwt } = world.control.addJwt({ extensionId })
  const body = { tenantId: world.tenantId, jwt }
  expect((await operate(world, 'POST', '/v1/operator/extensions', body)).status).toBe(200)
  const connected: Connected = {
    world,
    clock,
    jwt,
    extensionId,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
  return connected
}

/** The grants that were asked for since the last call of this function. */
function grantsOf({ world: { control } }: Connected): () => string[] {
  let read = control.calls().length
  return () => {
    const calls = control.calls().slice(read)
    read += calls.length
    return calls.flatMap(({ request }) => /grant_type=([^&]+)/.exec(request.body)?.[1]?.replace(/.*%3A/, '') ?? [])
  }
}

const sends = async ({ world }: Connected): Promise<string> => {
  const { status } = await world.untilStatus(await world.send())
  return String(status)
}

/** What people and programs see of the extension. */
async function seen({ world }: Connected) {
  const health = await world.json<{ extensions: Record<string, string | null>[] }>('GET', '/v1/rc/extensions/health')
  const doctor = await operate<{ check: string; level: string; detail: string }[]>(world, 'GET', '/v1/operator/doctor')
  const alerts = await operate<{ alerts: { alert: string; text: string }[] }>(world, 'GET', '/v1/operator/alerts')
  const [extension] = health.body.extensions
  return {
    connected: (await world.json('GET', '/v1/rc/status')).body['connected'],
    status: extension?.['status'],
    reason: extension?.['reason'],
    fix: extension?.['fix'],
    doctor: doctor.body.find(({ check }) => check === 'extensions'),
    alerts: alerts.body.alerts.filter(({ alert }) => alert.startsWith('extension_revoked')),
  }
}

const refresh = ({ world: { gateway, tenantId }, extensionId }: Connected) =>
  gateway.tokens.refresh({ tenantId, extensionId })

test('while there is a refresh token it is used, and the JWT opens another session only when that one is lost', async () => {
  await using one = await open()
  const grants = grantsOf(one)
  one.clock.advance(HOUR)
  expect([await sends(one), grants()]).toEqual(['sent', ['refresh_token']])
  one.world.control.revokeTokens({ extensionId: one.extensionId })
  expect([await sends(one), grants()]).toEqual(['sent', ['refresh_token', 'jwt-bearer']])
  one.clock.advance(HOUR)
  expect([await sends(one), grants()]).toEqual(['sent', ['refresh_token']])
  expect(await seen(one)).toMatchObject({ status: 'active', reason: null, alerts: [] })
})

test('without refresh tokens the JWT opens a session each hour', async () => {
  await using one = await open(({ control }) => control.configure({ issueRefreshTokens: false }))
  const grants = grantsOf(one)
  for (let hour = 0; hour < 3; hour++) {
    one.clock.advance(HOUR)
    expect([await sends(one), grants()]).toEqual(['sent', ['jwt-bearer']])
  }
  expect(await seen(one)).toMatchObject({ status: 'active', reason: null })
})

test('a refresh whose answer has no refresh token any more is right, and so is an app that may no longer refresh', async () => {
  await using one = await open()
  const grants = grantsOf(one)
  one.world.control.configure({ issueRefreshTokens: false })
  one.clock.advance(HOUR)
  expect([await sends(one), grants()]).toEqual(['sent', ['refresh_token']])
  one.clock.advance(HOUR)
  expect([await sends(one), grants()]).toEqual(['sent', ['jwt-bearer']])
  one.world.control.configure({ issueRefreshTokens: true })
  one.clock.advance(HOUR)
  expect([await sends(one), grants()]).toEqual(['sent', ['jwt-bearer']])
  one.world.control.configure({ grants: ['jwt'] })
  one.clock.advance(HOUR)
  expect([await sends(one), grants()]).toEqual(['sent', ['refresh_token', 'jwt-bearer']])
})

test('a JWT that was deleted does no harm until its session is lost; then everybody is told to make another one', async () => {
  await using one = await open()
  const { world, clock, jwt, extensionId } = one
  world.control.removeJwt({ jwt })
  clock.advance(HOUR)
  expect(await sends(one)).toBe('sent')
  world.control.revokeTokens({ extensionId })
  const command = CONNECT_AGAIN(world.tenantId)
  expect(await sends(one)).toBe('failed')
  const fix = `Make another one in the developer console: ${command}, or set RC_JWT and restart.`
  const said = `Extension ${extensionId} of ${world.tenantId} is revoked, so its messages fail. Its JWT is no longer accepted. ${fix}`
  expect(await seen(one)).toEqual({
    connected: false,
    status: 'revoked',
    reason: 'Its JWT is no longer accepted',
    fix,
    doctor: {
      check: 'extensions',
      level: 'fail',
      ok: false,
      detail: said,
    } as never,
    alerts: [
      expect.objectContaining({
        text: said,
        fix,
      }),
    ],
  })
  const again = world.control.addJwt({ extensionId }).jwt
  await operate(world, 'POST', '/v1/operator/extensions', { tenantId: world.tenantId, jwt: again })
  expect(await sends(one)).toBe('sent')
  expect(await seen(one)).toMatchObject({ connected: true, status: 'active', reason: null, alerts: [] })
})

test('a JWT that has expired is over with its session', async () => {
  await using one = await open(({ control }) => control.configure({ issueRefreshTokens: false }))
  const { world, clock, extensionId } = one
  const { jwt } = world.control.addJwt({ extensionId, expiresInSeconds: 90 * 60 })
  await operate(world, 'POST', '/v1/operator/extensions', { tenantId: world.tenantId, jwt })
  expect((await seen(one)).doctor).toMatchObject({
    level: 'warn',
    detail: `Extension ${extensionId} of ${world.tenantId} needs a new JWT. Its JWT expires on 2026-11-21T04:00:00.000Z. Make another one in the developer console: ${CONNECT_AGAIN(world.tenantId)}, or set RC_JWT and restart.`,
  })
  clock.advance(HOUR)
  expect(await sends(one)).toBe('sent')
  clock.advance(HOUR)
  expect(await sends(one)).toBe('failed')
  const over = await seen(one)
  expect(over).toMatchObject({ status: 'revoked', reason: 'Its JWT is no longer accepted' })
  const fix = `It expired on 2026-11-21T04:00:00.000Z. Make another one in the developer console: ${CONNECT_AGAIN(world.tenantId)}, or set RC_JWT and restart.`
  expect(over.fix).toBe(fix)
  expect(over.doctor?.detail).toEndWith(`Its JWT is no longer accepted. ${fix}`)
})

test('an app that may not use the grant any more is told so, and the extension goes on when it may', async () => {
  await using one = await open(({ control }) => control.configure({ issueRefreshTokens: false }))
  const { world, clock } = one
  world.control.configure({ grants: ['authorization_code', 'refresh_token'] })
  clock.advance(HOUR)
  const id = await world.send()
  const failed = await until(async () => {
    const state = await seen(one)
    return state.status === 'refresh_failed' ? state : null
  })
  expect(failed).toMatchObject({ connected: true, reason: 'Its tokens could not be refreshed', alerts: [] })
  expect(failed.fix).toStartWith(
    'The RingCentral app may not use this grant: its authentication must be "JWT auth flow". The gateway tries again on its own',
  )
  expect(failed.doctor).toMatchObject({ level: 'warn', detail: expect.stringContaining('"JWT auth flow"') })
  world.control.configure({ grants: ['jwt'] })
  clock.advance(10_000)
  expect((await world.untilStatus(id))['status']).toBe('sent')
})

test('a user who is suspended keeps the connection, which goes on by itself', async () => {
  await using one = await open()
  const { world, clock, extensionId } = one
  world.control.setExtensionStatus({ extensionId, status: 'Disabled' })
  clock.advance(HOUR)
  await refresh(one)
  expect(await seen(one)).toMatchObject({ connected: true, status: 'refresh_failed' })
  expect((await seen(one)).fix).toStartWith('RingCentral refuses this user for now (OAU-236)')
  world.control.setExtensionStatus({ extensionId, status: 'Enabled' })
  clock.advance(10_000)
  expect(await sends(one)).toBe('sent')
})

test('a 429 for tokens pauses no send: the old token is used until it expires, and no further call is made in the pause', async () => {
  await using one = await open()
  const { world, clock } = one
  const fault = { kind: 'respond', status: 429, headers: { 'retry-after': '30' } } as const
  clock.advance(HOUR - 50_000)
  world.control.fault({ route: 'token', calls: null, fault })
  const grants = grantsOf(one)
  await refresh(one)
  expect(grants()).toEqual(['refresh_token'])
  expect([await sends(one), await sends(one)]).toEqual(['sent', 'sent'])
  expect(grants()).toEqual([])
  expect((await seen(one)).fix).toStartWith('RingCentral asked the gateway to wait 30 s; calls work again after that.')
  const { body } = await world.json<{ extensions: { pausedUntil: string | null }[] }>('GET', '/v1/rc/extensions/health')
  expect(body.extensions[0]?.pausedUntil).toBeNull()
  world.control.clearFaults()
  clock.advance(30_000)
  expect([await sends(one), grants()]).toEqual(['sent', ['refresh_token']])
  await until(async () => ((await seen(one)).status === 'active' ? true : null))
})

test('a pause that the ticket of a socket was told holds back tokens, but no send', async () => {
  await using one = await open()
  const { world, clock, extensionId } = one
  clock.advance(HOUR - 50_000)
  world.gateway.quota.pauseAsAnnounced(extensionId, 'auth', 30_000)
  const grants = grantsOf(one)
  await refresh(one)
  expect([await sends(one), grants()]).toEqual(['sent', []])
  clock.advance(30_000)
  await until(async () => ((await seen(one)).status === 'active' ? true : null))
  expect(grants()).toEqual(['refresh_token'])
})

test('a token that RingCentral has refused is not used again while its refresh fails', async () => {
  await using one = await open()
  const { world, clock, extensionId } = one
  world.control.fault({ route: 'token', calls: null, fault: { kind: 'respond', status: 503 } })
  world.control.expireTokens({ extensionId, which: 'access' })
  const id = await world.send()
  await until(async () => ((await seen(one)).status === 'refresh_failed' ? true : null))
  const sent = () => world.control.calls().filter(({ route }) => route === 'sms').length
  const before = sent()
  clock.advance(5000)
  await world.send()
  expect(sent()).toBe(before)
  world.control.clearFaults()
  clock.advance(5000)
  expect((await world.untilStatus(id))['status']).toBe('sent')
})

test('a dead JWT behind something that answers in its place revokes nothing', async () => {
  await using one = await open(({ control }) => control.configure({ issueRefreshTokens: false }))
  const { world, clock } = one
  const body = JSON.stringify({ error: 'invalid_grant' })
  for (const status of [302, 500, 502, 503]) {
    world.control.fault({ route: 'token', calls: 1, fault: { kind: 'respond', status, body } })
    clock.advance(HOUR)
    await refresh(one)
    expect([status, (await seen(one)).status]).toEqual([status, 'refresh_failed'])
  }
  world.control.fault({ route: 'token', calls: 1, fault: { kind: 'respond', status: 403, body: '<html>no</html>' } })
  await refresh(one)
  expect((await seen(one)).status).toBe('refresh_failed')
  clock.advance(30 * MINUTE)
  expect(await sends(one)).toBe('sent')
})

/** An answer of the token endpoint for another user. */
const FOREIGN = {
  access_token: 'foreign-access',
  token_type: 'bearer',
  expires_in: 3600,
  refresh_token: 'foreign-refresh',
  refresh_token_expires_in: 604_800,
  owner_id: '999999999',
  scope: 'SMS',
}

test.each(['refresh', 'jwt'])(
  'tokens of another extension, in the answer of a %s, are neither used nor stored, and people read why nothing is sent',
  async (how) => {
    const { log, lines } = recordedLog()
    await using one = await open(({ control }) => control.configure({ issueRefreshTokens: how === 'refresh' }), { log })
    const { world, clock, extensionId } = one
    const stored = async (): Promise<unknown> =>
      (await world.gateway.database.gate.execute('SELECT access_token, refresh_token FROM extensions')).rows[0]
    const before = await stored()
    clock.advance(HOUR)
    world.control.fault({ route: 'token', calls: 2, fault: { kind: 'respond', status: 200, body: FOREIGN } })
    const id = await world.send()
    await until(async () => (await seen(one)).status === 'refresh_failed')
    const fix =
      'RingCentral answered with the tokens of another extension, which the gateway ignored: make sure that nothing between this machine and RC_SERVER_URL caches or mixes up its answers.'
    expect(await seen(one)).toMatchObject({
      reason: 'Its tokens could not be refreshed',
      fix: expect.stringContaining(`${fix} The gateway tries again on its own`),
      doctor: { level: 'warn', detail: expect.stringContaining(fix) },
    })
    expect(await stored()).toEqual(before)
    // Nor in a call.
    expect(world.control.calls().filter(({ request }) => JSON.stringify(request).includes('foreign-'))).toEqual([])
    expect(lines.filter((line) => line.includes('foreign-'))).toEqual([])
    expect((await world.status(id))['status']).not.toBe('failed')
    // The old refresh token is still good.
    for (let minute = 0; minute < 5; minute++) {
      clock.advance(MINUTE)
      await Bun.sleep(20)
    }
    expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
    expect(await seen(one)).toMatchObject({ status: 'active', reason: null })
    expect(extensionId).not.toBe(FOREIGN.owner_id)
  },
)
