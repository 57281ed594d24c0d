// Argument: `getaddrinfo`, or `gateway` for the gateway's resolver. Prints rows as JSON. The process must be able to listen
// on port 53 of 127.0.0.1, and /etc/resolv.conf must name only that DNS server.
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { connect } from 'node:net'
import { AddressGuard } from '../../src/net/outbound/address-guard.ts'
import { WebhookPoster } from '../../src/net/outbound/webhook-poster.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { addSilentDestinations, deliverTo } from '../../test/support/silent-names.ts'
import { type World, createWorld, until } from '../../test/support/world.ts'
import type { Row } from '../bench.ts'

const SILENT_NAMES = 100
const PHASE_MS = 10_000
const PROBE_EVERY_MS = 1000
const GIVE_UP_MS = 30_000

type Probe = () => Promise<unknown>

process.stdout.write(JSON.stringify(await measure(process.argv[2] ?? 'gateway')), () => process.exit())

async function measure(how: string): Promise<Row[]> {
  const dns = createSocket('udp4').on('message', () => undefined)
  await new Promise<void>((resolve) => dns.bind(53, '127.0.0.1', resolve))
  const world = await createWorld({ env: { FROM_LIMIT_PER_MINUTE: '10000', EXTENSION_LIMIT_PER_MINUTE: '10000' } })
  world.control.setLimits({ enabled: false })
  if (how === 'getaddrinfo') useGetaddrinfo(world)
  const probes = await probesOf(world)
  const quiet = await phase(`${how}, quiet`, probes)
  const silent = await world.otherTenant('Silent')
  await addSilentDestinations(world, silent, SILENT_NAMES)
  await deliverTo(world, silent.tenantId, '1')
  return [quiet, await phase(`${how}, ${SILENT_NAMES} silent names`, probes)]
}

/** Resolves names as release 1.0 did. */
function useGetaddrinfo({ gateway }: World): void {
  const resolver = async (hostname: string, signal?: AbortSignal) => {
    const { promise, reject } = Promise.withResolvers<never>()
    signal?.addEventListener('abort', () => reject(Object.assign(new Error('Too slow'), { code: 'ETIMEOUT' })))
    return Promise.race([lookup(hostname, { all: true }), promise])
  }
  const guard = new AddressGuard({ production: false, allowCidrs: [], resolver })
  Object.assign(gateway, { guard, poster: new WebhookPoster({ guard, clock: gateway.clock }) })
}

async function probesOf(world: World): Promise<Readonly<Record<string, Probe>>> {
  const receiver = startReceiver()
  const { port } = new URL(receiver.url)
  for (const host of ['127.0.0.1', 'localhost'])
    await world.call('POST', '/v1/triggers', { body: { callbackUrl: `http://${host}:${port}/${host}` } })
  const [extension] = world.control.extensions()
  const key = { tenantId: world.tenantId, extensionId: extension?.extensionId ?? '' }
  const context = { tenantId: world.tenantId, row: '1', purpose: 'webhook_secret' } as const
  const webhook = async (path: string): Promise<void> => {
    const text = crypto.randomUUID()
    await world.control.injectSms({ text })
    await until(
      () => receiver.requests.some((request) => request.path === path && request.body['body'] === text),
      GIVE_UP_MS,
    )
  }
  return {
    'webhook to an address': () => webhook('/127.0.0.1'),
    'webhook to a name': () => webhook('/localhost'),
    send: async () => world.untilStatus(await world.send(), ['sent'], GIVE_UP_MS),
    'token refresh': () => world.gateway.tokens.refresh(key),
    WebCrypto: async () => world.gateway.secrets.decrypt(await world.gateway.secrets.encrypt('x', context), context),
    'dial by name': () => new Promise((resolve) => connect(Number(port), 'localhost').once('connect', resolve)),
  }
}

/** Repeats each probe. Reports the worst time of each, or that one did not end. */
async function phase(name: string, probes: Readonly<Record<string, Probe>>): Promise<Row> {
  const running: Promise<void>[] = []
  const times = new Map<string, number[]>()
  for (const end = performance.now() + PHASE_MS; performance.now() < end; await Bun.sleep(PROBE_EVERY_MS))
    for (const [probe, run] of Object.entries(probes))
      running.push(timeOf(run).then((time) => void times.set(probe, [...(times.get(probe) ?? []), time])))
  await Promise.all(running)
  const worst = [...times].map(([probe, all]) => [`${probe}, worst ms`, cell(Math.max(...all))])
  return { case: name, ...Object.fromEntries(worst) }
}

async function timeOf(run: Probe): Promise<number> {
  const startedAt = performance.now()
  const failed = run().then(
    () => false,
    () => true,
  )
  const isLost = await Promise.race([failed, Bun.sleep(GIVE_UP_MS).then(() => true)])
  return isLost ? Infinity : performance.now() - startedAt
}

function cell(ms: number): string | number {
  return ms === Infinity ? `lost, or over ${GIVE_UP_MS}` : Math.round(ms)
}
