import { afterAll, expect, test } from 'bun:test'
import { createApp } from '../../../src/operator/apps.ts'
import { createTenant } from '../../../src/operator/tenants.ts'
import { createTrigger } from '../../../src/api/triggers/create-trigger.ts'
import { storeInbound } from '../../../src/messages/inbound/store-inbound.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const TENANTS = 20
const DESTINATIONS = 50
/** Eight of a host each, or what the first two tenants may have at most and four for each of the others. */
const BEGUN = { 'on one host': 20 * 8, 'on a host each': 2 * 128 + 18 * 4 }
/** As many as a destination gets at once. */
const MESSAGES = 4

const gone = Promise.withResolvers<void>()
afterAll(() => gone.resolve())

function startHanging(): Receiver {
  const receiver = startReceiver()
  receiver.answer = async () => (await gone.promise, new Response('too late'))
  return receiver
}

let messages = 0
const inbound = (world: World, tenantId: string): Promise<boolean> =>
  storeInbound(world.gateway, {
    tenantId,
    extensionId: '1',
    providerMessageId: String(++messages),
    from: '+15555550199',
    to: '+15555550100',
    text: 'Hello',
  })

/** Lets 20 tenants post to 50 destinations each that never answer. */
async function hang(world: World, urlOf: (tenant: number, destination: number) => string): Promise<void> {
  for (let tenant = 0; tenant < TENANTS; tenant++) {
    const { tenantId } = await createTenant(world.gateway, { name: `Hanging ${tenant}` })
    await createApp(world.gateway, { tenantId, name: 'App', webhookUrl: null, role: 'app' })
    await Promise.all(
      Array.from({ length: DESTINATIONS }, (_, index) =>
        createTrigger(world.gateway, { tenantId }, { callbackUrl: urlOf(tenant, index) }),
      ),
    )
    for (let count = 0; count < MESSAGES; count++) await inbound(world, tenantId)
  }
}

const portOf = ({ url }: Receiver): string => new URL(url).port

const hostOf = (where: keyof typeof BEGUN, tenant: number, destination: number): string =>
  where === 'on one host' ? '127.0.0.1' : `h${tenant}x${destination}.localhost`

// The clock stands still, so no POST that hangs ends: the webhook leaves although nothing else does.
for (const where of ['on one host', 'on a host each'] as const) {
  test(`1,000 hanging destinations of 20 tenants ${where} do not delay another tenant's webhooks`, async () => {
    await using hanging = startHanging()
    await using world = await createWorld({ clock: manualClock() })
    const healthyUrl = hanging.url.replace('/hook', '/healthy')
    const { tenantId } = await world.otherTenant()
    await createTrigger(world.gateway, { tenantId }, { callbackUrl: healthyUrl })
    await hang(world, (tenant, index) => `http://${hostOf(where, tenant, index)}:${portOf(hanging)}/hook`)
    await until(() => hanging.requests.length === BEGUN[where])
    const { answer } = hanging
    hanging.answer = (request) => (request.path === '/healthy' ? new Response('ok') : answer(request))
    const healthy = (): number => hanging.requests.filter(({ path }) => path === '/healthy').length
    await inbound(world, tenantId)
    await until(() => healthy() === 1)
    for (let count = 0; count < 10; count++) await inbound(world, tenantId)
    await until(() => healthy() === 11)
    expect(hanging.requests.length - healthy()).toBe(BEGUN[where])
  })
}
