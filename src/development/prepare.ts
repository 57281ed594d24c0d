import { StartError, EXIT } from '../core/start-error.ts'
import { DEVELOPMENT_KEY, writeSecret, readSecret } from '../data-folder.ts'
import { CALLBACK_PATH, beginAuthorization } from '../features/rc/connect.ts'
import type { Gateway } from '../gateway.ts'
import { createApp } from '../operator/apps.ts'
import { createTenant, listTenants } from '../operator/tenants.ts'
import type { RunningGateway } from '../run.ts'
import type { SimulatorControl } from '../simulator/simulator.ts'
import { banner } from './banner.ts'

/** Three numbers of the fictitious range 555-01xx. */
const NUMBERS = ['+15555550100', '+15555550101', '+15555550102']
const TENANT_NAME = 'Development'
/** Shorter than the delay of the first delivery poll, so that this poll finds the message delivered. */
const DELIVERED_AFTER_MS = 3000

/**
 * Creates a tenant, an app whose key is stored beside the database, and a connected extension of the simulator, so that a
 * developer can send a first SMS. The simulator stores nothing, so its extension is connected at every start. Returns the
 * banner.
 */
export async function prepareDevelopment(running: RunningGateway, simulator: SimulatorControl): Promise<string> {
  const { gateway, url } = running
  const { apiKey, tenantId } = await developmentApp(gateway)
  simulator.configure({ deliveredAfterMs: DELIVERED_AFTER_MS })
  if (simulator.extensions().length === 0) simulator.addExtension({ name: 'Demo phone', numbers: NUMBERS })
  const { status } = await gateway.directory.tenant(tenantId)
  if (status === 'active') await connect(running, tenantId)
  else gateway.log.warn({ tenantId, status }, 'the development tenant is not active: sgw tenant activate TENANT')
  return banner({ url, apiKey, from: NUMBERS[0] ?? '', databasePath: gateway.config.database.path ?? '' })
}

/** Returns the app of the last start. If its key was revoked, a new app replaces it. */
async function developmentApp(gateway: Gateway): Promise<{ apiKey: string; tenantId: string }> {
  const apiKey = readSecret(gateway.config, DEVELOPMENT_KEY)
  const holder = apiKey === null ? null : await gateway.keys.find(apiKey)
  if (apiKey !== null && holder !== null) return { apiKey, tenantId: holder.tenantId }
  const tenantId = await developmentTenant(gateway)
  const app = await createApp(gateway, { tenantId, name: 'Development app', webhookUrl: null, role: 'app' })
  return { apiKey: writeSecret(gateway.config, DEVELOPMENT_KEY, app.apiKey), tenantId }
}

async function developmentTenant(gateway: Gateway): Promise<string> {
  const known = (await listTenants(gateway)).find(({ name, status }) => name === TENANT_NAME && status === 'active')
  return (known ?? (await createTenant(gateway, { name: TENANT_NAME }))).tenantId
}

/** Connects the extension as a browser would, but calls the gateway's own address, because PUBLIC_URL may name a proxy. */
async function connect({ gateway, url }: RunningGateway, tenantId: string): Promise<void> {
  const login = await fetch((await beginAuthorization(gateway, tenantId)).url, { redirect: 'manual' })
  const callback = URL.parse(login.headers.get('location') ?? '')
  const answer = callback === null ? null : await fetch(`${url}${CALLBACK_PATH}${callback.search}&format=json`)
  if (answer?.ok !== true)
    throw new StartError(EXIT.unavailable, 'The built-in simulator could not be connected: see the log above')
}
