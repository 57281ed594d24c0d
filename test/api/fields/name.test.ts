import { expect, test } from 'bun:test'
import { TenantBody } from '../../../src/operator/schemas.ts'
import { expectError } from '../../support/expect-error.ts'
import { operate, signIn } from '../../support/operator.ts'
import { type World, createWorld } from '../../support/world.ts'

interface Document {
  components: { schemas: Record<string, { properties: { name: { pattern: string } } }> }
}

const NAME = 'name must be 1-100 characters'
const quiet = { connect: false, work: false }

/** Names of control and format characters, in a text, around one, and alone. */
const REFUSED = [
  'Sh\u200Bop',
  'Shop\u00AD',
  '\u2060Shop',
  'Sh\uFEFFop',
  'Shop\u{E0041}',
  'Shop\u{1D173}',
  'a\u0600',
  'a\u180Eb',
  'a\u202Eb',
]

/** Names in which nothing can be seen. */
const INVISIBLE = ['\u200C', '\u200D\u200D', ' \u200C ', '\u3164', '\uFFA0\u115F', '\u2800', '\uFE0F', '\u{E0100}']

/** U+200C in a Persian word, U+200D in one emoji, and others that look unusual. */
const ACCEPTED = [
  'می\u200Cخواهم',
  '👩\u200D👩\u200D👧',
  '❤️',
  'Ünï <b>',
  'x',
  '日本\u3000語',
  'متجر',
  '\u200CShop',
  'क्\u200Dष',
]

/** Each way to give a name, and how it answers. */
const WAYS: [way: string, give: (world: World, name: string, token: string) => Promise<{ status: number }>][] = [
  ['register', (world, name) => world.call('POST', '/v1/apps/register', { body: { name, tenantId: world.tenantId } })],
  [
    'operator, app',
    (world, name, key) => world.call('POST', '/v1/operator/apps', { key, body: { name, tenantId: world.tenantId } }),
  ],
  ['operator, tenant', (world, name, key) => world.call('POST', '/v1/operator/tenants', { key, body: { name } })],
  ['command line, tenant', (world, name) => operate(world, 'POST', '/v1/operator/tenants', { name })],
]

test.each(WAYS)(
  '%s: a name has a visible character and no invisible one but those that scripts and emoji need',
  async (_way, give) => {
    await using world = await createWorld(quiet)
    const { token } = await signIn(world)
    for (const name of [...REFUSED, ...INVISIBLE])
      expect({ name: encodeURI(name), status: (await give(world, name, token)).status }).toEqual({
        name: encodeURI(name),
        status: 400,
      })
    for (const name of ACCEPTED)
      expect({ name, status: (await give(world, name, token)).status }).toEqual({ name, status: 201 })
  },
)

test('the pattern of the OpenAPI document says the same of each character up to U+FFFF', async () => {
  await using world = await createWorld(quiet)
  const { components } = (await (await world.call('GET', '/openapi.json', { key: null })).json()) as Document
  for (const schema of ['RegisterAppRequest', 'CreateTenantRequest']) {
    const pattern = new RegExp(components.schemas[schema]?.properties.name.pattern ?? '', 'u')
    const differing: string[] = []
    for (let code = 0; code <= 0xffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const character = String.fromCharCode(code)
      // Spaces around a name are removed before it is checked.
      const names = character.trim() === '' ? [`a${character}b`] : [character, `a${character}b`]
      if (names.some((name) => pattern.test(name) !== TenantBody.safeParse({ name }).success))
        differing.push(code.toString(16))
    }
    expect({ schema, differing }).toEqual({ schema, differing: [] })
    for (const name of ['', ' ', ...INVISIBLE.slice(0, -1)]) expect(pattern.test(name)).toBe(false)
  }
})

test('the error is that of a name of the wrong length', async () => {
  await using world = await createWorld(quiet)
  const body = { name: 'Sh\u200Bop', tenantId: world.tenantId }
  await expectError(await world.call('POST', '/v1/apps/register', { body }), 400, NAME)
})

test('a name that was stored by an earlier release is listed as it is, and its tenant and app work', async () => {
  await using world = await createWorld(quiet)
  const { gate } = world.gateway.database
  for (const table of ['tenants', 'apps']) await gate.execute(`UPDATE ${table} SET name = 'Old\u200B'`)
  const tenants = await operate<{ tenants: object[] }>(world, 'GET', '/v1/operator/tenants')
  expect(tenants.body.tenants).toMatchObject([{ name: 'Old\u200B' }])
  expect((await world.json('GET', '/v1/me')).body).toMatchObject({ name: 'Old\u200B', tenantName: 'Old\u200B' })
  expect((await world.json('GET', '/v1/apps')).body).toMatchObject({ apps: [{ name: 'Old\u200B' }] })
  const own = `/v1/apps/${world.app.appId}`
  expect((await world.json('PUT', own, { body: { webhookUrl: null } })).status).toBe(200)
  const rotated = await operate(world, 'POST', `/v1/operator/apps/${world.app.appId}/rotate-key`)
  expect(rotated.status).toBe(200)
})
