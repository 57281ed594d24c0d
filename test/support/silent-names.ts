import { createTrigger } from '../../src/api/triggers/create-trigger.ts'
import { storeInbound } from '../../src/messages/inbound/store-inbound.ts'
import type { Registered } from '../../src/api/apps/schemas.ts'
import { createApp } from '../../src/operator/apps.ts'
import { FROM, TO, type World } from './world.ts'

/** Gives the tenant `count` apps and triggers with distinct names for which no DNS server answers. */
export async function addSilentDestinations({ gateway }: World, owner: Registered, count: number): Promise<void> {
  const urls = Array.from({ length: count }, (_, index) => `https://silent-${index}.example.com/hook`)
  const apps = urls.splice(0, Math.ceil(count / 2))
  await Promise.all([
    ...apps.map((webhookUrl, index) =>
      createApp(gateway, { tenantId: owner.tenantId, name: `Silent ${index}`, webhookUrl, role: 'app' }),
    ),
    ...urls.map((callbackUrl) => createTrigger(gateway, owner, { callbackUrl })),
  ])
}

/** Stores an inbound message of the tenant, which starts a delivery to each of its destinations. */
export async function deliverTo({ gateway }: World, tenantId: string, providerMessageId: string): Promise<void> {
  await storeInbound(gateway, { tenantId, extensionId: '1', providerMessageId, from: TO, to: FROM, text: 'Hi' })
}
