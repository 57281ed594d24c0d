import { expect, test } from 'bun:test'
import { callbackPath, newLink, open, pressConnect, tokenOf } from '../../support/connect-flow.ts'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { purgeLinks } from '../../../src/messages/upkeep/purge-links.ts'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { FROM, FROM_2, type World, createWorld, recordedLog } from '../../support/world.ts'

const MISSING = 'Missing code or state parameter'

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })
const connected = async (world: World): Promise<unknown> => (await world.json('GET', '/v1/rc/status')).body['connected']

async function expectPage(response: Response, status: number, title: string): Promise<string> {
  expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  const text = await response.text()
  expect(text).toContain(`<h1>${title}</h1>`)
  return text
}

test('success shows a page with the numbers, and everything is stored', async () => {
  await using world = await quiet()
  const text = await expectPage(await open(world, await callbackPath(world)), 200, 'Connected')
  for (const number of [FROM, FROM_2]) expect(text).toContain(number)
  expect(await connected(world)).toBe(true)
  expect(world.control.subscriptions()).toMatchObject([
    { status: 'Active', address: `${world.url}/v1/webhooks/provider` },
  ])
})

test('success with format=json answers {ok:true}', async () => {
  await using world = await quiet()
  const response = await open(world, `${await callbackPath(world)}&format=json`)
  expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: { ok: true } })
})

test('tokens and PKCE verifiers are stored encrypted', async () => {
  await using world = await quiet()
  await open(world, await callbackPath(world))
  await world.gateway.database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  const bytes = Buffer.from(await Bun.file(`${world.folder}/sgw.db`).arrayBuffer())
  const [session] = world.control.sessions()
  for (const token of [session?.accessToken, session?.refreshToken]) expect(bytes.includes(String(token))).toBe(false)
})

test('without code or state the answer is 400 JSON, unless the caller prefers a page', async () => {
  await using world = await quiet()
  for (const query of ['', '?code=x', '?state=x', '?code=&state=x', '?code=x&state=', '?format=json']) {
    await expectError(await open(world, `/v1/rc/callback${query}`, { accept: '*/*' }), 400, MISSING)
  }
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
  await expectPage(await open(world, '/v1/rc/callback', { accept: browser }), 400, MISSING)
  await expectPage(await open(world, '/v1/rc/callback', { accept: 'application/json;q=0.5, TEXT/HTML' }), 400, MISSING)
  for (const accept of [
    'application/json',
    'application/json, text/html;q=0.5',
    'text/html;q=0',
    'text/html;q=nonsense',
    '*/*',
  ]) {
    await expectError(await open(world, '/v1/rc/callback', { accept }), 400, MISSING)
  }
  await expectError(await open(world, '/v1/rc/callback?format=json', { accept: browser }), 400, MISSING)
})

test('an unknown state is refused before the provider is called', async () => {
  await using world = await quiet()
  for (const state of ['x', 'a'.repeat(43), '%00', '%3Cscript%3E', 'a'.repeat(5000)]) {
    const text = await expectPage(
      await open(world, `/v1/rc/callback?code=x&state=${state}`),
      400,
      'Invalid or expired token',
    )
    expect(text).not.toContain('<script')
  }
  await expectError(await open(world, '/v1/rc/callback?code=x&state=y&format=json'), 400, 'Invalid or expired token')
  expect(world.control.requests({ route: 'token' })).toEqual([])
})

const ALREADY = 'Already connected'

test('a reload of the result page says that the extension is connected; nothing is exchanged again', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ connect: false, work: false, log })
  const path = await callbackPath(world)
  await expectPage(await open(world, path), 200, 'Connected')
  world.control.clearRequests()
  await purgeLinks(world.gateway)
  for (const _ of [1, 2]) {
    const text = await expectPage(await open(world, path), 400, ALREADY)
    for (const hidden of [FROM, 'First', 'new link']) expect(text).not.toContain(hidden)
  }
  await expectError(await open(world, `${path}&format=json`), 400, 'Invalid or expired token')
  expect(world.control.requests()).toEqual([])
  expect(lines.filter((line) => line.includes('"why":"used"'))).toHaveLength(3)
})

test('a reload after a failed authorization does not say that the extension is connected, even if another one succeeded', async () => {
  await using world = await quiet()
  const [declined, failed] = [await callbackPath(world), await callbackPath(world)]
  const { searchParams } = new URL(declined, 'http://x')
  await expectPage(
    await open(world, `/v1/rc/callback?error=access_denied&state=${searchParams.get('state')}`),
    400,
    'Not connected',
  )
  world.control.fault({ route: 'token', fault: { kind: 'respond', status: 503 } })
  await expectPage(await open(world, failed), 502, 'The provider did not answer as it should')
  await expectPage(await open(world, await callbackPath(world)), 200, 'Connected')
  for (const path of [declined, failed]) await expectPage(await open(world, path), 400, 'Invalid or expired token')
})

test('a used state is forgotten ten minutes after its use', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  const path = await callbackPath(world)
  await open(world, path)
  clock.advance(599_999)
  await purgeLinks(world.gateway)
  await expectPage(await open(world, path), 400, ALREADY)
  clock.advance(1)
  await purgeLinks(world.gateway)
  await expectPage(await open(world, path), 400, 'Invalid or expired token')
})

test('a state expires after 10 minutes', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, work: false, clock })
  const link = await newLink(world)
  const pressed = await pressConnect(world, tokenOf(link))
  const state = new URL(pressed.headers.get('location') ?? '').searchParams.get('state')
  clock.advance(600_000)
  await expectError(
    await open(world, `/v1/rc/callback?code=x&state=${state}&format=json`),
    400,
    'Invalid or expired token',
  )
})

test('declined consent answers with a 400 page that says what to do, and consumes the state', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ connect: false, work: false, log })
  world.control.denyNextLogin()
  const path = await callbackPath(world)
  const text = await expectPage(await open(world, path, { 'x-request-id': 'r-declined' }), 400, 'Not connected')
  expect(text).toContain('The login was cancelled, or access was not allowed.')
  expect(lines.find((line) => line.includes('was declined'))).toMatch(
    /"requestId":"r-declined".*"error":"access_denied"/,
  )
  const state = new URLSearchParams(path.split('?')[1]).get('state')
  await expectError(
    await open(world, `/v1/rc/callback?code=x&state=${state}&format=json`),
    400,
    'Invalid or expired token',
  )
  expect(await connected(world)).toBe(false)
})

test('declined consent with format=json answers 400 JSON', async () => {
  await using world = await quiet()
  world.control.denyNextLogin()
  await expectError(await open(world, `${await callbackPath(world)}&format=json`), 400, 'Not connected')
})

test('no text of the query is shown or logged, with or without a known state', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ connect: false, work: false, log })
  const words = encodeURIComponent('<script>alert(1)</script> call 555 now')
  const pressed = await pressConnect(world, tokenOf(await newLink(world)))
  const state = new URL(pressed.headers.get('location') ?? '').searchParams.get('state')
  for (const query of [
    `error=access_denied&error_description=${words}`,
    `error=${words}&error_description=${words}`,
    `error=access_denied&state=${state}&error_description=${words}`,
    `error=${words}&state=${state}`,
  ]) {
    const text = await expectPage(await open(world, `/v1/rc/callback?${query}`), 400, 'Not connected')
    expect(text).not.toMatch(/call 555|alert|<script/)
  }
  expect(lines.join('')).not.toMatch(/call 555|alert/)
})

test('an unknown error code gets a fixed text', async () => {
  await using world = await quiet()
  for (const [error, words] of [
    ['invalid_request', 'compare its settings with the manual'],
    ['unauthorized_client', 'compare its settings with the manual'],
    ['temporarily_unavailable', 'in a few minutes'],
    ['constructor', 'RingCentral did not authorize the connection'],
  ] as const)
    expect(await (await open(world, `/v1/rc/callback?error=${error}`)).text()).toContain(words)
})

for (const [what, fault] of [
  ['refuses the code', { kind: 'respond', status: 400, body: { error: 'invalid_grant' } }],
  ['is down', { kind: 'respond', status: 503 }],
  ['resets the connection', { kind: 'reset' }],
  ['answers with an unreadable body', { kind: 'html' }],
] as const) {
  test(`if the provider ${what}, the answer is 502 and nothing is stored`, async () => {
    await using world = await quiet()
    world.control.fault({ route: 'token', fault })
    await expectPage(await open(world, await callbackPath(world)), 502, 'The provider did not answer as it should')
    world.control.clearFaults()
    world.control.fault({ route: 'token', fault })
    const response = await open(world, `${await callbackPath(world)}&format=json`)
    await expectError(response, 502, 'The provider did not answer as it should')
    expect(await connected(world)).toBe(false)
  })
}

test('another account is refused until the first one is disconnected, and its session is ended', async () => {
  await using world = await createWorld({ work: false })
  const { accountId } = world.control.addAccount()
  const stranger = world.control.addExtension({ name: 'Mallory', accountId, numbers: ['+15555550142'] })
  const tryIt = async (): Promise<Response> => {
    world.control.nextLogin({ extensionId: stranger.extensionId })
    return open(world, await callbackPath(world))
  }
  await expectPage(await tryIt(), 400, 'Another account is connected')
  expect(world.control.sessions({ extensionId: stranger.extensionId })).toEqual([])
  expect((await world.json<{ extensions: unknown[] }>('GET', '/v1/rc/extensions')).body.extensions).toHaveLength(1)
  await world.call('POST', '/v1/rc/disconnect')
  await expectPage(await tryIt(), 200, 'Connected')
})

test('of two accounts that return simultaneously, only one is connected', async () => {
  await using world = await quiet()
  const { accountId } = world.control.addAccount()
  const other = world.control.addExtension({ name: 'Bob', accountId, numbers: ['+15555550142'] })
  const first = await callbackPath(world)
  world.control.nextLogin({ extensionId: other.extensionId })
  const second = await callbackPath(world)
  // Both logins have read their extension before either is stored.
  const both = Promise.withResolvers<void>()
  const { provider } = world.gateway
  const getExtension = provider.getExtension
  let asked = 0
  provider.getExtension = async (token) => {
    const answer = await getExtension(token)
    if (++asked === 2) both.resolve()
    await both.promise
    return answer
  }
  const answers = await Promise.all([open(world, first), open(world, second)])
  expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 400])
  const { rows } = await world.gateway.database.gate.execute('SELECT DISTINCT account_id FROM extensions')
  expect(rows).toHaveLength(1)
  expect((await world.gateway.database.gate.execute(`SELECT 1 FROM jobs WHERE kind = 'back_fill'`)).rows).toHaveLength(
    1,
  )
  expect(world.control.sessions()).toHaveLength(1)
})

test('a tenant whose extensions are all revoked may connect another account', async () => {
  await using world = await createWorld({ work: false })
  const { accountId } = world.control.addAccount()
  const other = world.control.addExtension({ name: 'Bob', accountId, numbers: ['+15555550142'] })
  const execute = (sql: string) => world.gateway.database.gate.execute(sql)
  await execute(`UPDATE extensions SET status = 'revoked'`)
  world.gateway.directory.forget(world.tenantId)
  world.control.nextLogin({ extensionId: other.extensionId })
  await expectPage(await open(world, await callbackPath(world)), 200, 'Connected')
  expect(await (await world.call('GET', '/v1/rc/status')).json()).toMatchObject({
    connected: true,
    rcAccountId: accountId,
  })
  // The tenant now belongs to the second account, so the first is refused.
  await expectPage(await open(world, await callbackPath(world)), 400, 'Another account is connected')
})

test('a suspended tenant connects nothing in any step', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ connect: false, work: false, log })
  const suspend = () => setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  const [atOnce, later] = [await callbackPath(world), await callbackPath(world)]
  const { provider } = world.gateway
  const getExtension = provider.getExtension
  provider.getExtension = async (token) => {
    await suspend()
    return getExtension(token)
  }
  await expectPage(await open(world, later), 400, 'Invalid or expired token')
  world.control.clearRequests()
  await expectPage(await open(world, atOnce), 400, 'Invalid or expired token')
  expect(world.control.requests({ route: 'token' })).toEqual([])
  expect(world.control.sessions()).toEqual([])
  expect((await world.gateway.database.gate.execute('SELECT 1 FROM extensions')).rows).toEqual([])
  expect((await world.gateway.database.gate.execute('SELECT 1 FROM jobs')).rows).toEqual([])
  expect(lines.filter((line) => line.includes('"why":"tenant_not_active"'))).toHaveLength(2)
})

test('an extension’s name is escaped', async () => {
  await using world = await quiet()
  const extension = world.control.addExtension({ name: '<b onclick=x>Bob</b>', numbers: ['+15555550142'] })
  world.control.nextLogin({ extensionId: extension.extensionId })
  const text = await expectPage(await open(world, await callbackPath(world)), 200, 'Connected')
  expect(text).toContain('&lt;b onclick=x&gt;Bob&lt;/b&gt;')
})

const WHY_NOT: Readonly<Record<string, RegExp>> = {
  refused: /RingCentral could not be reached, or gave an unexpected answer: try again in a few minutes\./,
  paused: /RingCentral asked the gateway to wait (59|60) s; calls work again after that\./,
  tokens: /Its tokens could not be refreshed: the gateway tries again within 10 s\./,
}

test.each(['refused', 'paused', 'tokens'])(
  'a failure after the tokens are stored does not undo the connection (%s)',
  async (how) => {
    await using world = await quiet()
    if (how === 'refused')
      world.control.fault({ route: 'subscription-create', calls: null, fault: { kind: 'respond', status: 503 } })
    else if (how === 'paused')
      world.gateway.quota.pause(world.control.extensions()[0]?.extensionId ?? '', 'medium', 60_000)
    else refuseTokens(world)
    const text = await expectPage(await open(world, await callbackPath(world)), 200, 'Connected')
    expect(text).toContain('Receiving is not set up yet')
    expect(text).toMatch(WHY_NOT[how] ?? 'a sentence')
    expect(await connected(world)).toBe(true)
  },
)

/** From the call that makes the subscription on: the token is refused, and no other one is given. */
function refuseTokens({ control }: World): void {
  control.fault({ route: 'subscription-list', calls: null, fault: { kind: 'respond', status: 401 } })
  control.fault({ route: 'token', calls: null, after: 1, fault: { kind: 'respond', status: 503 } })
}
