import { createTrigger } from '../../src/features/triggers/create-trigger.ts'
import { storeInbound } from '../../src/inbound/store-inbound.ts'
import type { Registered } from '../../src/features/apps/schemas.ts'
import { createApp } from '../../src/operator/apps.ts'
import { FROM, TO, type World } from './world.ts'

/** Gives the tenant apps and triggers whose names nobody answers for, `count` in all, each with a name of its own. */
export async function addSilentDestinations({ gateway }: World, owner: Registered, count: number): Promise<void> {
  const urls = Array.from({ length: count }, (_, place) => `https://silent-${place}.example.com/hook`)
  const apps = urls.splice(0, Math.ceil(count / 2))
  await Promise.all([
    ...apps.map((webhookUrl, place) =>
      createApp(gateway, { tenantId: owner.tenantId, name: `Silent ${place}`, webhookUrl, role: 'app' }),
    ),
    ...urls.map((callbackUrl) => createTrigger(gateway, owner, { callbackUrl })),
  ])
}

/** An inbound message of the tenant, which starts a delivery to each of its destinations. */
export async function deliverTo({ gateway }: World, tenantId: string, providerMessageId: string): Promise<void> {
  await storeInbound(gateway, { tenantId, extensionId: '1', providerMessageId, from: TO, to: FROM, text: 'Hi' })
}
