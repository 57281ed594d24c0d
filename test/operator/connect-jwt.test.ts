import { expect, test } from 'bun:test'
import { isoTime } from '../../src/core/clock.ts'
import { manualClock } from '../support/manual-clock.ts'
import { operate, signIn } from '../support/operator.ts'
import { FROM, FROM_2, type World, createWorld, recordedLog } from '../support/world.ts'

const PATH = '/v1/operator/extensions'
const NOT_ACCEPTED =
  'The JWT is not one that RingCentral accepts from this app: it was deleted, has expired, is not whole, or is for other apps. Make another one in the developer console (Credentials, Create JWT), for this app.'
const notWhole = (damage: string): string =>
  `This JWT is incomplete. Copy all of it again: a JWT has three parts with a dot between them, and ${damage}. If it is refused again: ${NOT_ACCEPTED}`
const WRONG_GRANT = 'The RingCentral app may not use this grant: its authentication must be "JWT auth flow".'
const NEVER = '9999-12-31T23:59:59.000Z'

const open = (): Promise<World> => createWorld({ connect: false })

const extensionOf = ({ control }: World): string => control.extensions()[0]?.extensionId ?? ''

const newJwt = (world: World, more: { clientId?: string; expiresInSeconds?: number } = {}): string =>
  world.control.addJwt({ extensionId: extensionOf(world), ...more }).jwt

const connect = (world: World, jwt: unknown, tenantId: unknown = world.tenantId) =>
  operate(world, 'POST', PATH, { tenantId, jwt })

/** Status and error of a connection. */
async function refusalOf(world: World, jwt: unknown, tenantId?: unknown): Promise<unknown[]> {
  const { status, body } = await connect(world, jwt, tenantId)
  return [status, body['error']]
}

async function healthOf(world: World, options: { key?: string } = {}) {
  const { body } = await world.json<{ extensions: Record<string, unknown>[] }>(
    'GET',
    '/v1/rc/extensions/health',
    options,
  )
  return body.extensions
}

const expiresAt = async (world: World): Promise<unknown> => (await world.json('GET', '/v1/rc/status')).body['expiresAt']

const rowsOf = (world: World, sql: string) => world.gateway.database.gate.execute(sql).then(({ rows }) => rows)

test('a JWT connects the extension of its user, which sends and receives as after a login', async () => {
  await using world = await open()
  const { status, body } = await connect(world, newJwt(world))
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      tenantId: world.tenantId,
      extensionId: extensionOf(world),
      name: 'Alice',
      phoneNumbers: [FROM, FROM_2],
      receiving: true,
      fixes: [],
    },
  })
  await world.untilStatus(await world.send(), ['sent'])
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(1)
  expect((await world.json('GET', '/v1/rc/status')).body).toEqual({
    connected: true,
    expiresAt: NEVER,
    rcAccountId: expect.any(String),
  })
  expect(await healthOf(world)).toMatchObject([{ status: 'active', connectedBy: 'jwt', reason: null }])
})

test('the connection ends when the JWT does, and the earliest end of all is told', async () => {
  await using world = await open()
  const before = Math.floor(Date.now() / 1000)
  await connect(world, newJwt(world, { expiresInSeconds: 86_400 }))
  const end = Date.parse(String(await expiresAt(world))) / 1000
  expect([end >= before + 86_400, end <= before + 86_430]).toEqual([true, true])
  await connect(world, newJwt(world))
  expect(await expiresAt(world)).toBe(NEVER)
  const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: ['+15555550107'] })
  await world.connect({ extensionId })
  const [, bob] = await healthOf(world)
  expect(bob).toMatchObject({ extensionId, connectedBy: 'link' })
  expect(await expiresAt(world)).toBe(bob?.['refreshExpiresAt'])
})

test('a JWT that RingCentral does not accept connects nothing, and the answer says why', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, clock })
  const deleted = newJwt(world)
  world.control.removeJwt({ jwt: deleted })
  const expired = newJwt(world, { expiresInSeconds: 1 })
  clock.advance(1000)
  const foreign = newJwt(world, { clientId: 'another app' })
  for (const jwt of [deleted, foreign])
    expect([jwt, ...(await refusalOf(world, jwt))]).toEqual([jwt, 409, NOT_ACCEPTED])
  const end = isoTime(clock.now() - (clock.now() % 1000))
  expect(await refusalOf(world, expired)).toEqual([409, `This JWT expired on ${end}: make a new one. ${NOT_ACCEPTED}`])
  world.control.configure({ grants: ['authorization_code', 'refresh_token'] })
  expect(await refusalOf(world, newJwt(world))).toEqual([409, WRONG_GRANT])
  expect((await world.json('GET', '/v1/rc/status')).body).toEqual({ connected: false })
  expect(await rowsOf(world, 'SELECT * FROM connected_jwts')).toEqual([])
  expect(world.control.sessions()).toEqual([])
})

test('a JWT that is not whole is told so first: copy it again, and what is wrong with this one', async () => {
  await using world = await open()
  const jwt = newJwt(world)
  const [header = '', claims = '', signature = ''] = jwt.split('.')
  const cut = 'the last part of this one is cut off'
  const unreadable = (part: string): string => `the ${part} part of this one cannot be read`
  const other = 'this one has other characters, such as quotes or a name before it'
  for (const [damaged, damage] of [
    [jwt.slice(0, -1), cut],
    [jwt.slice(0, -10), cut],
    [`${header}.${claims}.`, cut],
    [`${jwt}${signature}`, 'something follows the last part of this one'],
    [jwt.slice(9), unreadable('first')],
    [`${claims}.${claims}.${signature}`, unreadable('first')],
    ['not.a.jwt', unreadable('first')],
    [`${header}.${claims.slice(3)}.${signature}`, unreadable('second')],
    [header, 'this one has 1'],
    ['x', 'this one has 1'],
    [`${header}.${claims}`, 'this one has 2'],
    [`${jwt}.${signature}`, 'this one has 4'],
    [`${jwt}${jwt}`, 'this one has 5'],
    [`RC_JWT=${jwt}`, other],
    [`"${jwt}"`, other],
  ] as const)
    expect([damaged, ...(await refusalOf(world, damaged))]).toEqual([damaged, 409, notWhole(damage)])
})

test('an app that takes no JWT, but may take links: with a public address the answer names the link', async () => {
  await using world = await createWorld({ connect: false, env: { PUBLIC_URL: 'https://sms.example.com' } })
  world.control.configure({ grants: ['authorization_code', 'refresh_token'] })
  expect(await refusalOf(world, newJwt(world))).toEqual([
    409,
    `${WRONG_GRANT} Or connect it by a link (sgw extensions invite --tenant TENANT).`,
  ])
})

test('each other obstacle has a sentence of its own', async () => {
  await using world = await open()
  const jwt = newJwt(world)
  const { control } = world
  control.setExtensionStatus({ extensionId: extensionOf(world), status: 'Disabled' })
  expect(await refusalOf(world, jwt)).toEqual([
    409,
    'RingCentral refuses this user for now (OAU-236): an administrator can undo that in the RingCentral admin portal.',
  ])
  control.setExtensionStatus({ extensionId: extensionOf(world), status: 'Enabled' })
  control.fault({
    route: 'token',
    calls: 1,
    fault: { kind: 'respond', status: 429, headers: { 'retry-after': '30' } },
  })
  expect(await refusalOf(world, jwt)).toEqual([
    409,
    'RingCentral asked the gateway to wait 30 s; calls work again after that.',
  ])
  control.fault({ route: 'token', calls: 1, fault: { kind: 'reset' } })
  expect(await refusalOf(world, jwt)).toEqual([
    409,
    'RingCentral could not be reached, or gave an unexpected answer: try again in a few minutes.',
  ])
  control.configure({ permissions: [] })
  expect(await refusalOf(world, jwt)).toEqual([
    409,
    'The RingCentral app lacks the permission ReadAccounts: add it in the developer console, then connect again.',
  ])
  expect(control.sessions()).toEqual([])
})

test('a tenant of another account, one that is not active, and one that does not exist are refused', async () => {
  await using world = await open()
  const { extensionId } = world.control.addExtension({
    name: 'Elsewhere',
    numbers: ['+15555550108'],
    accountId: '900900016',
  })
  await connect(world, newJwt(world))
  const { jwt } = world.control.addJwt({ extensionId })
  expect(await refusalOf(world, jwt)).toEqual([
    409,
    'The tenant is connected to another RingCentral account: use another tenant',
  ])
  const other = await world.otherTenant()
  await operate(world, 'PUT', `/v1/operator/tenants/${other.tenantId}`, { status: 'suspended' })
  expect(await refusalOf(world, jwt, other.tenantId)).toEqual([
    409,
    'The tenant is not active: sgw tenant activate TENANT',
  ])
  expect(await refusalOf(world, jwt, 'tenant_0000000000000000')).toEqual([404, 'Tenant not found'])
  expect(world.control.sessions({ extensionId })).toEqual([])
})

test('a body without a tenant or a JWT is a 400 that does not repeat it, and line breaks in a JWT do not count', async () => {
  await using world = await open()
  const jwt = newJwt(world)
  const length = [400, 'jwt must be 1-8192 characters']
  for (const bad of [undefined, null, 7, '', ' \n', 'x'.repeat(8193)])
    expect(await refusalOf(world, bad)).toEqual(length)
  for (const bad of ['tenant_1', 7]) expect(await refusalOf(world, jwt, bad)).toEqual([400, 'Invalid tenantId format'])
  const wrapped = ` ${jwt.replace(/.{60}/g, '$&\r\n')}\n`
  expect((await connect(world, wrapped)).status).toBe(200)
})

test('an operator who has signed in may connect, over plain HTTP from this machine alone', async () => {
  await using world = await open()
  const { token } = await signIn(world)
  const body = { tenantId: world.tenantId, jwt: newJwt(world) }
  const post = (headers: Record<string, string>, key = token) => world.json('POST', PATH, { key, body, headers })
  for (const headers of [{ 'x-forwarded-for': '192.0.2.7' }, { forwarded: 'for=192.0.2.7' }, { via: '1.1 proxy' }])
    expect(await post(headers)).toMatchObject({ status: 403, body: { error: 'HTTPS required' } })
  expect(await post({}, world.key)).toMatchObject({ status: 403, body: { error: 'Forbidden' } })
  expect((await world.json('POST', PATH, { key: null, body })).status).toBe(401)
  expect(await healthOf(world)).toEqual([])
  expect(await post({})).toMatchObject({ status: 200, body: { extensionId: extensionOf(world) } })
})

test('one extension is connected to two tenants by the same JWT, and leaves the one without the other', async () => {
  await using world = await open()
  const other = await world.otherTenant()
  const jwt = newJwt(world)
  for (const tenantId of [world.tenantId, other.tenantId])
    expect((await connect(world, jwt, tenantId)).status).toBe(200)
  expect(world.control.sessions()).toHaveLength(2)
  for (const key of [world.key, other.apiKey])
    expect(await world.untilStatus(await world.send({}, { key }), ['sent'], 20_000, { key })).toBeDefined()
  expect((await world.call('DELETE', `/v1/rc/extensions/${extensionOf(world)}`)).status).toBe(200)
  expect(await rowsOf(world, 'SELECT tenant_id FROM extensions WHERE jwt IS NOT NULL')).toEqual([
    { tenant_id: other.tenantId },
  ])
  expect(world.control.sessions()).toHaveLength(1)
  await world.untilStatus(await world.send({}, { key: other.apiKey }), ['sent'], 20_000, { key: other.apiKey })
})

test('a later authorization replaces the JWT, and ends the session before it', async () => {
  await using world = await open()
  await connect(world, newJwt(world))
  const stored = 'SELECT jwt, jwt_expires_at FROM extensions'
  const [first] = await rowsOf(world, stored)
  await connect(world, newJwt(world, { expiresInSeconds: 3600 }))
  const [second] = await rowsOf(world, stored)
  expect(second).toEqual({ jwt: expect.any(String), jwt_expires_at: expect.any(Number) })
  expect(second?.['jwt']).not.toBe(first?.['jwt'])
  await world.connect()
  expect(await rowsOf(world, stored)).toEqual([{ jwt: null, jwt_expires_at: null }])
  expect(await healthOf(world)).toMatchObject([{ connectedBy: 'link' }])
  expect(world.control.sessions()).toHaveLength(1)
})

test('a session without a refresh token is ended as well when it is replaced, or its extension is disconnected', async () => {
  await using world = await open()
  world.control.configure({ issueRefreshTokens: false })
  world.control.setLimits({ enabled: false })
  for (let times = 0; times < 3; times++) expect((await connect(world, newJwt(world))).status).toBe(200)
  expect(world.control.sessions()).toHaveLength(1)
  await world.call('POST', '/v1/rc/disconnect')
  expect([world.control.sessions(), await rowsOf(world, 'SELECT * FROM extensions')]).toEqual([[], []])
})

test('neither an accepted JWT nor a refused one is in a log', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ connect: false, log })
  const jwts = [newJwt(world), newJwt(world, { clientId: 'another app' })]
  world.control.fault({
    route: 'token',
    calls: 1,
    fault: {
      kind: 'respond',
      status: 400,
      body: JSON.stringify({
        error: 'invalid_grant',
        error_description: `The assertion ${jwts[0]} (signature ${jwts[0]?.split('.')[2]}) is invalid`,
      }),
    },
  })
  for (const jwt of [jwts[0], ...jwts]) await connect(world, jwt)
  const { token } = await signIn(world)
  await world.call('POST', PATH, { key: token, body: `{"tenantId":"x","jwt":"${jwts[0]}"` })
  const text = lines.join('\n')
  expect(text).toContain('the JWT connected no extension')
  for (const jwt of jwts) for (const part of [jwt, ...jwt.split('.').slice(1)]) expect(text.includes(part)).toBe(false)
})
