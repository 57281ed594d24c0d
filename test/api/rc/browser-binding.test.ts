import { expect, test } from 'bun:test'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { logIn, newLink, open, pressConnect, tokenOf } from '../../support/connect-flow.ts'
import { type World, createWorld } from '../../support/world.ts'

const BROWSER = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' }

const quiet = (env: Record<string, string> = {}): Promise<World> => createWorld({ connect: false, work: false, env })
const isConnected = async (world: World): Promise<unknown> =>
  (await world.json('GET', '/v1/rc/status')).body['connected']

/** Returns `name=value` and the attributes of the only cookie that a response sets. */
function cookieOf(response: Response): { pair: string; attributes: string[] } {
  const [pair = '', ...attributes] = (response.headers.get('set-cookie') ?? '').split('; ')
  return { pair, attributes }
}

/** Begins an authorization in one browser. Returns its cookie, and the path that the login redirects to. */
async function begin(world: World): Promise<{ cookie: string; path: string }> {
  const pressed = await pressConnect(world, tokenOf(await newLink(world)))
  return { cookie: cookieOf(pressed).pair, path: await logIn(pressed.headers.get('location') ?? '') }
}

/** Returns the fields that the form of the confirmation page sends. */
function fieldsOf(html: string): Record<string, string> {
  expect(html).toContain('<form method="get" action="callback">')
  const inputs = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value]))
}

const resend = (world: World, fields: Record<string, string>, cookie: string): Promise<Response> =>
  open(world, `/v1/rc/callback?${new URLSearchParams(fields)}`, { ...BROWSER, 'sec-fetch-site': 'same-origin', cookie })

test('the button sets a cookie bound to the state, for this host and ten minutes, hidden from scripts', async () => {
  await using development = await quiet()
  const plain = cookieOf(await pressConnect(development, tokenOf(await newLink(development))))
  expect(plain.pair).toMatch(/^sgw-connect=[0-9a-f]{64}$/)
  expect(plain.attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=600', 'Path=/', 'SameSite=Lax'])
  await using secure = await quiet({ PUBLIC_URL: 'https://sms.example.com' })
  const host = cookieOf(await pressConnect(secure, tokenOf(await newLink(secure))))
  expect(host.pair).toMatch(/^__Host-sgw-connect=[0-9a-f]{64}$/)
  expect(host.attributes.toSorted()).toEqual(['HttpOnly', 'Max-Age=600', 'Path=/', 'SameSite=Lax', 'Secure'])
})

test.each(['cross-site', 'same-site'])(
  'a form of another page sets no cookie, so the browser is asked to confirm (%s)',
  async (site) => {
    await using world = await quiet()
    const pressed = await world.call('POST', '/v1/rc/connect', {
      key: null,
      body: new URLSearchParams({ token: tokenOf(await newLink(world)) }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': site },
    })
    expect([pressed.status, pressed.headers.get('set-cookie')]).toEqual([303, null])
    const answer = await open(world, await logIn(pressed.headers.get('location') ?? ''), BROWSER)
    expect(await answer.text()).toContain('<h1>Is this your connection?</h1>')
  },
)

test.each([{}, { PUBLIC_URL: 'https://sms.example.com' }])(
  'the browser that began the authorization is connected without a confirmation',
  async (env) => {
    await using world = await quiet(env)
    const { cookie, path } = await begin(world)
    const answer = await open(world, path, { ...BROWSER, cookie: `theme=dark; ${cookie}; other=1` })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('<h1>Connected</h1>')
    expect(await isConnected(world)).toBe(true)
  },
)

test('only the browser that connected the extension is told so when it loads the page again', async () => {
  await using world = await quiet()
  const { cookie, path } = await begin(world)
  for (const [headers, title] of [
    [{ cookie }, 'Connected'],
    [{ cookie }, 'Already connected'],
    [{}, 'Invalid or expired token'],
    [{ cookie: (await begin(world)).cookie }, 'Invalid or expired token'],
  ] as const)
    expect(await (await open(world, path, { ...BROWSER, ...headers })).text()).toContain(`<h1>${title}</h1>`)
})

test('another browser is asked to confirm, and the code is not exchanged before', async () => {
  await using world = await quiet()
  const { cookie, path } = await begin(world)
  const { cookie: another } = await begin(world)
  const stolen = cookie.replace('sgw-connect', 'sgw-confirm')
  for (const headers of [
    {},
    { cookie: another },
    { cookie: 'sgw-connect=' },
    { cookie: 'sgw-connect=x' },
    { cookie: stolen },
  ])
    for (const format of ['', '&format=json']) {
      const answer = await open(world, `${path}${format}`, { ...BROWSER, ...headers })
      expect(answer.status).toBe(200)
      const text = await answer.text()
      expect(text).toContain('<h1>Is this your connection?</h1>')
      expect(text).toContain('<b>First</b>')
    }
  expect(world.control.requests({ route: 'token' })).toEqual([])
  expect(await isConnected(world)).toBe(false)
  expect((await open(world, path, { ...BROWSER, cookie })).status).toBe(200)
  expect(await isConnected(world)).toBe(true)
})

test('a confirmation in that browser connects the extension', async () => {
  await using world = await quiet()
  const { path } = await begin(world)
  const asked = await open(world, path, BROWSER)
  const answer = await resend(world, fieldsOf(await asked.text()), cookieOf(asked).pair)
  expect(await answer.text()).toContain('<h1>Connected</h1>')
  expect(await isConnected(world)).toBe(true)
})

test('a confirmation is valid only in the same browser and for the same state', async () => {
  await using world = await quiet()
  const { path } = await begin(world)
  const mine = await open(world, path, BROWSER)
  const theirs = await open(world, path, BROWSER)
  const fields = fieldsOf(await mine.text())
  const other = fieldsOf(await (await open(world, (await begin(world)).path, BROWSER)).text())
  for (const [forged, cookie] of [
    [fields, ''],
    [fields, cookieOf(theirs).pair],
    [{ ...fields, confirm: '' }, cookieOf(mine).pair],
    [{ ...fields, confirm: fieldsOf(await theirs.text())['confirm'] ?? '' }, cookieOf(mine).pair],
    [{ ...fields, confirm: other['confirm'] ?? '' }, cookieOf(mine).pair],
    [{ ...fields, state: other['state'] ?? '' }, cookieOf(mine).pair],
  ] as const)
    expect(await (await resend(world, forged, cookie)).text()).toContain('Is this your connection?')
  expect(world.control.requests({ route: 'token' })).toEqual([])
})

test('a request for an image counts as a browser’s request and connects nothing', async () => {
  await using world = await quiet()
  const { path } = await begin(world)
  await open(world, path, { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' })
  expect(await isConnected(world)).toBe(false)
})

test.each([{}, { 'sec-fetch-mode': 'cors' }])(
  'a program connects without a cookie, as the contract says',
  async (headers) => {
    await using world = await quiet()
    const { path } = await begin(world)
    const answer = await open(world, `${path}&format=json`, headers)
    expect({ status: answer.status, body: await answer.json() }).toEqual({ status: 200, body: { ok: true } })
  },
)

test('an invalid state is refused without asking for confirmation', async () => {
  await using world = await quiet()
  const { path } = await begin(world)
  const forged = path.replace(/state=[^&]+/, `state=${'a'.repeat(43)}`)
  for (const [asked, suspended] of [
    [forged, false],
    [path, true],
  ] as const) {
    if (suspended) await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
    const answer = await open(world, asked, BROWSER)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('<h1>Invalid or expired token</h1>')
    const json = await open(world, `${asked}&format=json`, BROWSER)
    expect([json.status, await json.json()]).toEqual([400, { error: 'Invalid or expired token' }])
  }
})
