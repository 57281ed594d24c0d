import { StartError, EXIT } from '../core/start-error.ts'
import { kept } from '../data-folder.ts'
import { issueToken } from '../features/rc/issue-token.ts'
import { startConnect } from '../features/rc/connect.ts'
import type { Gateway } from '../gateway.ts'
import { createApp } from '../operator/apps.ts'
import { createTenant } from '../operator/tenants.ts'
import type { RunningGateway } from '../run.ts'
import type { Simulator } from '../simulator/simulator.ts'
import { banner } from './banner.ts'

/** Three numbers of the fictitious range 555-01xx. */
const NUMBERS = ['+15555550100', '+15555550101', '+15555550102']

/**
 * Makes all that a first SMS needs: a tenant, an app whose key is kept, and an extension of the simulator, connected
 * the way any extension is. The simulator forgets everything when it ends, so it is connected at every start.
 * Answers what to show to the developer.
 */
export async function prepareDevelopment(running: RunningGateway, simulator: Simulator): Promise<string> {
  const { gateway, url } = running
  const { apiKey, tenantId } = await keptApp(gateway)
  if (simulator.control.extensions().length === 0) simulator.control.addExtension({ name: 'Demo phone', numbers: NUMBERS })
  await connect(running, tenantId)
  return banner({ url, apiKey, from: NUMBERS[0] ?? '', databasePath: gateway.config.database.path ?? '' })
}

async function keptApp(gateway: Gateway): Promise<{ apiKey: string; tenantId: string }> {
  const apiKey = kept(gateway.config, 'development-api-key', () => `sgw_${gateway.ids.secret()}`)
  const holder = await gateway.keys.find(apiKey)
  return { apiKey, tenantId: holder?.tenantId ?? (await makeApp(gateway, apiKey)) }
}

/** The app is made with the key that was kept: a crash between the two leaves a key that the next start makes good. */
async function makeApp(gateway: Gateway, apiKey: string): Promise<string> {
  const { tenantId } = await createTenant(gateway, { name: 'Development' })
  const app = await createApp(gateway, { tenantId, name: 'Development app', webhookUrl: null, role: 'app' })
  await gateway.database.writer.write([
    { sql: 'UPDATE apps SET key_hash = ?2, key_prefix = ?3 WHERE id = ?1', args: [app.appId, gateway.secrets.hash(apiKey), apiKey.slice(0, 12)] },
  ])
  gateway.keys.forget()
  return tenantId
}

/** Walks through the connection as a browser would: our link, the provider's login, our callback. */
async function connect({ gateway, url }: RunningGateway, tenantId: string): Promise<void> {
  const { connectUrl } = await issueToken(gateway, { tenantId }, 'connect')
  const authorizeUrl = await startConnect(gateway, connectUrl.split('token=')[1])
  const login = await fetch(authorizeUrl, { redirect: 'manual' })
  const callback = URL.parse(login.headers.get('location') ?? '')
  const answer = callback === null ? null : await fetch(`${url}${callback.pathname}${callback.search}&format=json`)
  if (answer?.ok !== true) throw new StartError(EXIT.unavailable, 'The built-in simulator could not be connected: see the log above')
}
