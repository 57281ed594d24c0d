import { afterEach, expect, test } from 'bun:test'
import { Alerts } from '../../../src/operator/alerts/alerts.ts'
import { textOf } from '../../../src/operator/conditions/condition.ts'
import { judge } from '../../../src/operator/conditions/judge.ts'
import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import { networkFailure } from '../../../src/provider/ringcentral/errors.ts'
import { startSimulator } from '../../../src/simulator/simulator.ts'
import { watchProvider } from '../../../src/messages/upkeep/watch-provider.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { startReceiver } from '../../support/receiver.ts'
import { type World, type WorldOptions, createWorld, recordedLog, until } from '../../support/world.ts'

const MINUTE = 60_000
const CLIENT = { clientId: 'client', clientSecret: 'client-key' }

const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]()
})

/** A gateway with a provider outside of its process, whose checks run when the test says so. */
async function setUp(options: WorldOptions = {}) {
  const clock = manualClock(Date.now())
  const { log, lines } = recordedLog()
  const world = await createWorld({ clock, log, work: false, outside: true, ...options })
  const receiver = startReceiver()
  open.push(receiver, world)
  const alerts = new Alerts(world.gateway, receiver.url)
  const check = async (): Promise<Record<string, unknown>[]> => {
    const before = receiver.requests.length
    await watchProvider(world.gateway)
    await alerts.run()
    return receiver.requests.slice(before).map(({ body }) => body)
  }
  return { world, clock, lines, check }
}

/** Starts a provider again where the first one was. */
async function restart(world: World): Promise<void> {
  const { port } = new URL(world.simulator?.url ?? '')
  const again = await startSimulator({ clock: world.gateway.clock, port: Number(port), ...CLIENT })
  open.push({ [Symbol.asyncDispose]: () => again.stop() })
}

test('a provider that has not answered for two minutes fires an alert, also without traffic, and resolves it when it answers', async () => {
  const { world, clock, check } = await setUp()
  expect(await check()).toEqual([])
  await world.simulator?.stop()
  const stoppedAt = clock.now()
  await world.gateway.tokens.refresh({
    tenantId: world.tenantId,
    extensionId: world.control.extensions()[0]!.extensionId,
  })
  expect(await check()).toEqual([])
  clock.advance(2 * MINUTE - 1)
  expect(await check()).toEqual([])
  clock.advance(1)
  expect(await check()).toMatchObject([
    {
      alert: 'provider_unreachable',
      state: 'firing',
      since: new Date(stoppedAt).toISOString(),
      text: expect.stringContaining(`${world.simulator?.url} has not answered since`),
    },
  ])
  await restart(world)
  // The provider that was started anew does not know the extension's tokens: a refresh that is tried again ends as revoked.
  const ofExtension: unknown[] = ['extension_revoked', 'no_extension_can_send']
  const ofProvider = async () => (await check()).filter(({ alert }) => !ofExtension.includes(alert))
  expect(await ofProvider()).toMatchObject([{ alert: 'provider_unreachable', state: 'resolved' }])
  expect(await ofProvider()).toEqual([])
})

test('the alert names a proxy that refuses the connection, and gives the usual advice once that is over', async () => {
  const { world, clock } = await setUp()
  const silent = (code: string): void =>
    world.gateway.providerState.note({ ok: false, failure: networkFailure(code, true) })
  silent('ERR_PROXY_TUNNEL')
  clock.advance(2 * MINUTE)
  const said = async (): Promise<string> => {
    const judgements = await judge(world.gateway)
    const [found] = judgements.find(({ source }) => source.alert === 'provider_unreachable')?.found ?? []
    return found === undefined ? 'no condition' : textOf(found)
  }
  expect(await said()).toEndWith(
    'so messages wait. The proxy that HTTPS_PROXY names refuses the connection: allow RC_SERVER_URL in its settings.',
  )
  silent('ECONNREFUSED')
  expect(await said()).toStartWith(`${world.simulator?.url} has not answered since`)
  expect(await said()).toEndWith("Check DNS, the firewall and the network, and RingCentral's status page.")
})

test.each([
  ['a page of a firewall', 403],
  ['a page in a redirect', 302],
  ['a page of a proxy that reaches nobody', 502],
  ['a page instead of an answer', 200],
])('%s (%d) to every call is a provider that does not answer', async (_, status) => {
  const { world, clock, check } = await setUp()
  expect(await check()).toEqual([])
  world.control.fault({ route: '*', calls: null, fault: { kind: 'respond', status, body: '<html>Blocked</html>' } })
  await world.gateway.tokens.refresh({
    tenantId: world.tenantId,
    extensionId: world.control.extensions()[0]!.extensionId,
  })
  expect(await check()).toEqual([])
  clock.advance(2 * MINUTE)
  expect(await check()).toMatchObject([{ alert: 'provider_unreachable', state: 'firing' }])
  world.control.clearFaults()
  expect(await check()).toMatchObject([{ alert: 'provider_unreachable', state: 'resolved' }])
})

test('a wrong client secret is logged at the start with its fix, and fires an alert once', async () => {
  const { world, lines, check } = await setUp({ connect: false, env: { RC_CLIENT_SECRET: 'not-the-right-one' } })
  const firing = { alert: 'provider_credentials', state: 'firing', text: expect.stringContaining('RC_CLIENT_SECRET') }
  expect(await check()).toMatchObject([firing])
  expect(await check()).toEqual([])
  const logged = lines.filter((line) => line.includes('the provider refuses RC_CLIENT_ID and RC_CLIENT_SECRET'))
  expect(logged.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 'error', fix: expect.any(String) }])
  await world.simulator?.stop()
  const { port } = new URL(world.simulator?.url ?? '')
  const right = { ...CLIENT, clientSecret: 'not-the-right-one' }
  const again = await startSimulator({ clock: world.gateway.clock, port: Number(port), ...right })
  open.push({ [Symbol.asyncDispose]: () => again.stop() })
  // The first call may meet the connection of the provider that was stopped.
  const posts = await until(async () => {
    const made = await check()
    return made.length > 0 && made
  })
  expect(posts).toMatchObject([{ alert: 'provider_credentials', state: 'resolved' }])
})

test('the start itself presents the client’s credentials', async () => {
  const { log, lines } = recordedLog()
  const env = { RC_CLIENT_SECRET: 'wrong-secret' }
  open.push(await createWorld({ log, connect: false, outside: true, env }))
  await until(() => lines.some((line) => line.includes('the provider refuses RC_CLIENT_ID')))
})

test('a client that is accepted is presented once', async () => {
  const { world, check } = await setUp({ connect: false })
  for (let time = 0; time < 3; time++) expect(await check()).toEqual([])
  const calls = world.control.requests().filter(({ path }) => path.includes('/oauth/token'))
  expect(calls).toHaveLength(1)
})

test('the doctor names the cause of a failed refresh', async () => {
  const { world, clock } = await setUp()
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  const key = { tenantId: world.tenantId, extensionId }
  const detail = async (): Promise<string | undefined> =>
    (await diagnose(world.gateway)).find(({ check }) => check === 'extensions')?.detail
  await world.simulator?.stop()
  await world.gateway.tokens.refresh(key)
  expect(await detail()).toMatch(
    /Its tokens could not be refreshed\. RingCentral could not be reached, .* The gateway tries again on its own at 20/,
  )
  const { port } = new URL(world.simulator?.url ?? '')
  const other = await startSimulator({ clock, port: Number(port), ...CLIENT, clientSecret: 'another-secret' })
  open.push({ [Symbol.asyncDispose]: () => other.stop() })
  await world.gateway.tokens.refresh(key)
  expect(await detail()).toMatch(
    /could not be refreshed\. RC_CLIENT_SECRET is not the secret|could not be refreshed\. RC_CLIENT_ID or RC_CLIENT_SECRET/,
  )
  expect(await detail()).not.toContain('invite')
})
