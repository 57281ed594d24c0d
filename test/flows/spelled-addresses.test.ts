import { describe, expect, test } from 'bun:test'
import { FROM, createWorld, type World } from '../support/world.ts'

// The provider may spell the address of a subscription in another way than the gateway did.

type Spell = (address: string) => string | undefined

const onPath =
  (change: (path: string) => string): Spell =>
  (address) => {
    const { origin, pathname } = new URL(address)
    return origin + change(pathname)
  }

const SPELLINGS: Record<string, Spell> = {
  'the scheme in capitals': (address) => address.replace('http:', 'HTTP:'),
  'everything in capitals': (address) => address.toUpperCase(),
  'the path in capitals': onPath((path) => path.toUpperCase()),
  'a final slash': (address) => `${address}/`,
  'percent-encoding': onPath((path) => path.replaceAll('o', '%6F')),
  'percent-encoding, capitals and a slash': onPath((path) => `${path.replaceAll('o', '%6f').toUpperCase()}/`),
  'a dot behind the host': (address) => address.replace(/:(\d+)\//, '.:$1/'),
  'no address': () => undefined,
}

/** Stands between gateway and provider, and respells the addresses in the provider's answers. */
function respellingProxy(spell: Spell) {
  const proxy = { target: '', spell }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.text()
      const answer = await fetch(proxy.target + pathname + search, { method, headers, body, redirect: 'manual' })
      const text = (await answer.text()).replaceAll(/"address":"([^"]*)"/g, (_, address: string) => {
        const spelled = proxy.spell(address)
        return spelled === undefined ? '"other":0' : `"address":"${spelled}"`
      })
      const kept = new Headers(answer.headers)
      kept.delete('content-length')
      return new Response(answer.status === 204 ? null : text, { status: answer.status, headers: kept })
    },
  })
  return { proxy, url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) }
}

/** A connected gateway behind the proxy. Its subscription is checked only when the test does so. */
async function openBehind({ proxy, url }: ReturnType<typeof respellingProxy>): Promise<World> {
  const world = await createWorld({ outside: true, connect: false, work: false, env: { RC_SERVER_URL: url } })
  proxy.target = world.simulator?.url ?? ''
  world.control.nextLogin({ extensionId: world.control.extensions()[0]?.extensionId ?? '' })
  expect((await world.connect()).status).toBe(200)
  return world
}

async function ensure({ gateway, tenantId }: World): Promise<string> {
  const [row] = (await gateway.directory.tenant(tenantId)).extensions.values()
  return gateway.subscriptions.ensure({ tenantId, extensionId: row?.extensionId ?? '' })
}

const idsOf = ({ control }: World): string[] => control.subscriptions().map(({ subscriptionId }) => subscriptionId)

describe.each(Object.entries(SPELLINGS))('%s', (_, spell) => {
  test('the subscription is kept, and delivers once', async () => {
    using between = respellingProxy(spell)
    await using world = await openBehind(between)
    const made = idsOf(world)
    expect(made).toHaveLength(1)
    for (let look = 0; look < 3; look++) expect(await ensure(world)).toBe('kept')
    expect(idsOf(world)).toEqual(made)
    expect(world.control.requests({ route: 'subscription-create' })).toHaveLength(1)
    expect((await world.control.injectSms({ to: FROM, text: 'Once' })).deliveries).toHaveLength(1)
  })

  test('a disconnect deletes it', async () => {
    using between = respellingProxy(spell)
    await using world = await openBehind(between)
    expect((await world.call('POST', '/v1/rc/disconnect')).status).toBe(200)
    expect(idsOf(world)).toEqual([])
  })
})

test.each(['a final slash', 'percent-encoding', 'the scheme in capitals'])(
  'one that a crash has left is deleted, though it is spelled with: %s',
  async (name) => {
    using between = respellingProxy(SPELLINGS[name] as Spell)
    await using world = await openBehind(between)
    await world.gateway.database.gate.execute('DELETE FROM subscriptions')
    const [orphan = ''] = idsOf(world)
    expect(await ensure(world)).toBe('created')
    expect(idsOf(world)).toHaveLength(1)
    expect(idsOf(world)).not.toContain(orphan)
  },
)

test('one that leads to an earlier address of this gateway is replaced once', async () => {
  using between = respellingProxy((address) => address)
  await using world = await openBehind(between)
  const [earlier = ''] = idsOf(world)
  between.proxy.spell = onPath((path) => `/earlier${path}`)
  expect(await ensure(world)).toBe('created')
  between.proxy.spell = (address) => address
  expect(await ensure(world)).toBe('kept')
  expect(world.control.requests({ route: 'subscription-create' })).toHaveLength(2)
  // It is listed with the right address again, and is none that the gateway knows.
  expect(idsOf(world)).not.toContain(earlier)
})
