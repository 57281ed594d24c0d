import { and, eq } from 'drizzle-orm'
import { DELIVERED_AFTER_MS } from '../../core/simulator-access.ts'
import { StartError, EXIT } from '../../core/start-error.ts'
import { DEVELOPMENT_KEY, writeSecret, readSecret } from '../../db/data-folder.ts'
import { tenants } from '../../db/schema/tenants.ts'
import { CALLBACK_PATH, beginAuthorization } from '../../api/rc/connect.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { createApp } from '../../operator/apps.ts'
import { createTenant } from '../../operator/tenants.ts'
import type { RunningGateway } from '../run.ts'
import type { SimulatorControl } from '../../simulator/simulator.ts'

/** Three numbers of the fictitious range 555-01xx. */
export const NUMBERS: readonly string[] = ['+15555550100', '+15555550101', '+15555550102']
const TENANT_NAME = 'Development'

export interface DevelopmentApp {
  apiKey: string
  tenantId: string
}

/**
 * Returns the app of a gateway for developers, and stores its key beside the database. The first start creates it, with its
 * tenant. If its key was revoked, a new app replaces it.
 */
export async function prepareApp(gateway: Gateway): Promise<DevelopmentApp> {
  const apiKey = readSecret(gateway.config, DEVELOPMENT_KEY)
  const holder = apiKey === null ? null : await gateway.keys.find(apiKey)
  if (apiKey !== null && holder !== null) return { apiKey, tenantId: holder.tenantId }
  const tenantId = await developmentTenant(gateway)
  const app = await createApp(gateway, { tenantId, name: 'Development app', webhookUrl: null, role: 'app' })
  return { apiKey: writeSecret(gateway.config, DEVELOPMENT_KEY, app.apiKey), tenantId }
}

async function developmentTenant(gateway: Gateway): Promise<string> {
  const [known] = await gateway.database.orm
    .select({ id: tenants.id })
    .from(tenants)
    .where(and(eq(tenants.name, TENANT_NAME), eq(tenants.status, 'active')))
    .orderBy(tenants.createdAt, tenants.id)
    .limit(1)
  return known?.id ?? (await createTenant(gateway, { name: TENANT_NAME })).tenantId
}

const DEVELOPMENT_SETTINGS = { deliveredAfterMs: DELIVERED_AFTER_MS }
/**
 * A message has its final status at the first poll, but not yet in the answer to the send. Tokens outlive any time that a test skips, so that
 * the extension stays connected.
 */
const TEST_SETTINGS = { sentAfterMs: 5, deliveredAfterMs: 5, refreshTokenSeconds: 315_360_000 }

/**
 * Connects an extension of the simulator with three numbers, so that a developer can send a first SMS. The simulator stores nothing, so its
 * extension is connected at every start. `isTest`: it delivers immediately.
 */
export async function connectSimulator(
  { gateway, url }: RunningGateway,
  simulator: SimulatorControl,
  tenantId: string,
  isTest: boolean,
): Promise<void> {
  gateway.simulator = simulator
  simulator.configure(isTest ? TEST_SETTINGS : DEVELOPMENT_SETTINGS)
  if (simulator.extensions().length === 0) simulator.addExtension({ name: 'Demo phone', numbers: [...NUMBERS] })
  const { status } = await gateway.directory.tenant(tenantId)
  if (status === 'active') return connect(gateway, url, tenantId)
  gateway.log.warn({ tenantId, status }, 'the development tenant is not active: sgw tenant activate TENANT')
}

/** Connects the extension as a browser would, but calls the gateway's own address, because PUBLIC_URL may name a proxy. */
async function connect(gateway: Gateway, url: string, tenantId: string): Promise<void> {
  const login = await ask((await beginAuthorization(gateway, tenantId)).url)
  const callback = URL.parse(login?.headers.get('location') ?? '')
  const answer = callback === null ? null : await ask(`${url}${CALLBACK_PATH}${callback.search}&format=json`)
  if (answer?.ok === true) return
  const problem = gateway.database.storage?.problem ?? null
  if (problem === null)
    throw new StartError(EXIT.unavailable, 'The built-in simulator could not be connected: see the log above')
  throw new StartError(EXIT.cannotWrite, `The built-in simulator could not be connected, because ${problem}`)
}

/** Null without an answer. The address is this machine's, but HOST may be any, so it may not be among those that bypass proxies. */
const ask = (url: string): Promise<Response | null> =>
  fetch(url, { redirect: 'manual', proxy: false }).catch(() => null)
