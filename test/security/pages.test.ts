import { describe, expect, test } from 'bun:test'
import { callbackPath, logIn, newLink, open, pressConnect, tokenOf } from '../support/connect-flow.ts'
import { type World, createWorld } from '../support/world.ts'

const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>&lt;{{7*7}}`
const ESCAPED = Bun.escapeHTML(HOSTILE)
const QUIET = { connect: false, work: false } as const

async function rename(world: World, name: string): Promise<void> {
  await world.gateway.database.writer.write([
    { sql: 'UPDATE tenants SET name = ?2 WHERE id = ?1', args: [world.tenantId, name] },
  ])
}

/** Every page, opened as a browser does. */
const PAGES: Readonly<Record<string, (world: World) => Promise<Response>>> = {
  'the confirmation': async (world) => open(world, await newLink(world)),
  'a missing token': (world) => open(world, '/v1/rc/connect'),
  'a bad token': (world) => open(world, `/v1/rc/connect?token=${encodeURIComponent(HOSTILE)}`),
  'a bad token, posted': (world) => pressConnect(world, HOSTILE),
  'a bad state': (world) => open(world, `/v1/rc/callback?code=x&state=${encodeURIComponent(HOSTILE)}`),
  'a missing code': (world) => open(world, '/v1/rc/callback', { accept: 'text/html' }),
  'a declined consent': async (world) => {
    world.control.denyNextLogin()
    return open(world, await callbackPath(world))
  },
  'a declined consent in hostile words': async (world) => {
    const state = new URLSearchParams((await callbackPath(world)).split('?')[1]).get('state') ?? ''
    return open(
      world,
      `/v1/rc/callback?error=access_denied&state=${state}&error_description=${encodeURIComponent(HOSTILE)}`,
    )
  },
  'a code that is not exchanged': async (world) =>
    open(world, (await callbackPath(world)).replace(/code=[^&]+/, 'code=stolen')),
  'another browser': async (world) => open(world, await callbackPath(world), { 'sec-fetch-mode': 'navigate' }),
  success: async (world) => open(world, await callbackPath(world)),
}

describe('every page', () => {
  for (const [name, get] of Object.entries(PAGES)) {
    test(`has no script, frame, cache or referrer: ${name}`, async () => {
      await using world = await createWorld(QUIET)
      await rename(world, HOSTILE)
      const page = await get(world)
      const html = await page.text()
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.headers.get('referrer-policy')).toBe('no-referrer')
      expect(page.headers.get('x-content-type-options')).toBe('nosniff')
      expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin')
      expect(page.headers.get('x-frame-options')).toBe('DENY')
      expect(page.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action [^;]+; base-uri 'none'; frame-ancestors 'none'$/,
      )
      expect(html).not.toMatch(/<script|<img|onerror=(?!alert\(2\)&gt;)|javascript:|href=/i)
      if (name === 'the confirmation' || name === 'another browser') expect(html).toContain(ESCAPED)
      if (name.endsWith('hostile words')) expect(html).not.toContain('alert')
    })
  }

  test('the redirect to the login is not cached and leads to the configured provider', async () => {
    await using world = await createWorld(QUIET)
    const pressed = await pressConnect(world, tokenOf(await newLink(world)))
    expect(pressed.status).toBe(303)
    expect(pressed.headers.get('cache-control')).toBe('no-store')
    expect(pressed.headers.get('referrer-policy')).toBe('no-referrer')
    const location = new URL(pressed.headers.get('location') ?? '')
    expect(location.origin).toBe(world.gateway.config.provider.serverUrl)
    expect(location.searchParams.get('code_challenge_method')).toBe('S256')
  })

  test('no text of a query is shown on a page', async () => {
    await using world = await createWorld(QUIET)
    const ours = new URLSearchParams((await callbackPath(world)).split('?')[1]).get('state')
    for (const state of ['', '&state=', '&state=forged', `&state=${ours}`]) {
      const page = await open(world, `/v1/rc/callback?error=access_denied&error_description=Call+0900+now${state}`)
      expect(page.status).toBe(400)
      expect(await page.text()).not.toContain('0900')
    }
  })
})

describe('links and states can be used once', () => {
  test('of ten simultaneous POSTs one succeeds, and viewing the page does not use the link', async () => {
    await using world = await createWorld(QUIET)
    for (const kind of ['connect', 'invite'] as const) {
      const link = await newLink(world, kind)
      for (let n = 0; n < 3; n++) expect((await open(world, link)).status).toBe(200)
      const answers = await Promise.all(Array.from({ length: 10 }, () => pressConnect(world, tokenOf(link))))
      expect(answers.map((answer) => answer.status).toSorted()).toEqual([303, ...Array.from({ length: 9 }, () => 400)])
      expect((await open(world, link)).status).toBe(400)
    }
  })

  test('of ten simultaneous callbacks with one state one succeeds, and its code is exchanged once', async () => {
    await using world = await createWorld(QUIET)
    const path = await callbackPath(world)
    const answers = await Promise.all(Array.from({ length: 10 }, () => open(world, path)))
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)])
    expect(world.control.requests({ route: 'token' })).toHaveLength(1)
  })
})

describe('state and PKCE are bound', () => {
  const partOf = (path: string, name: string): string => new URLSearchParams(path.split('?')[1]).get(name) ?? ''
  const extensionsOf = async (world: World, key: string): Promise<number> =>
    (await world.json<{ extensions: unknown[] }>('GET', '/v1/rc/extensions', { key })).body.extensions.length

  test('a state connects the tenant of its link, in any browser', async () => {
    await using world = await createWorld(QUIET)
    const other = await world.otherTenant()
    const path = await callbackPath(world, await newLink(world, 'connect', other.apiKey))
    expect((await open(world, path, { authorization: `Bearer ${world.key}` })).status).toBe(200)
    expect([await extensionsOf(world, world.key), await extensionsOf(world, other.apiKey)]).toEqual([0, 1])
  })

  test('a code of one flow is refused in another flow, because the verifier differs', async () => {
    await using world = await createWorld(QUIET)
    const other = await world.otherTenant()
    const mine = await callbackPath(world)
    const theirs = await callbackPath(world, await newLink(world, 'connect', other.apiKey))
    const injected = await open(world, `/v1/rc/callback?code=${partOf(theirs, 'code')}&state=${partOf(mine, 'state')}`)
    expect(injected.status).toBe(502)
    expect([await extensionsOf(world, world.key), await extensionsOf(world, other.apiKey)]).toEqual([0, 0])
  })

  test('the challenge at the provider matches the stored verifier, and a foreign login has no valid state', async () => {
    await using world = await createWorld(QUIET)
    const pressed = await pressConnect(world, tokenOf(await newLink(world)))
    const authorize = new URL(pressed.headers.get('location') ?? '')
    authorize.searchParams.set('code_challenge', 'A'.repeat(43))
    expect((await open(world, await logIn(authorize.href))).status).toBe(502)
    authorize.searchParams.delete('state')
    expect((await open(world, await logIn(authorize.href))).status).toBe(400)
    expect(await extensionsOf(world, world.key)).toBe(0)
  })

  test('a link’s token is not accepted as a state, nor a state as a token', async () => {
    await using world = await createWorld(QUIET)
    const token = tokenOf(await newLink(world))
    expect((await open(world, `/v1/rc/callback?code=x&state=${token}`)).status).toBe(400)
    expect((await pressConnect(world, partOf(await callbackPath(world), 'state'))).status).toBe(400)
    expect((await pressConnect(world, token)).status).toBe(303)
  })
})
