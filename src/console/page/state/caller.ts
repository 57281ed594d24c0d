import { computed, signal } from '@preact/signals'
import { type Me, Sgw } from '../../../client/client.ts'
import { startWith } from './address.ts'
import { listAllApps, listTenants } from './operator.ts'
import { endSession, session } from './session.ts'
import { readStored, writeStored } from './settings.ts'

/** An app that an operator can act as. */
export interface AppChoice {
  appId: string
  name: string
  tenantId: string
  tenantName: string
}

/** The apps in the switcher; empty with an app's key, which is one app. */
export const choices = signal<readonly AppChoice[]>([])
const chosenApp = signal('')

/** Who the console acts as, from `GET /v1/me`. */
export const me = signal<Me | null>(null)

/** The client of the session, acting as the chosen app; null before there is one. */
export const client = computed(() => {
  const { token, kind } = session.value ?? { token: '', kind: 'key' }
  if (token === '' || (kind === 'operator' && chosenApp.value === '')) return null
  return new Sgw({
    baseUrl: location.origin,
    apiKey: token,
    ...(kind === 'operator' ? { appId: chosenApp.value } : {}),
  })
})

const LAST_APP = 'sgw.app'

/** Learns who the session is, and as which app it acts: the last used one, else the oldest of the first active tenant. */
export async function findCaller(): Promise<void> {
  const { kind = 'key', token = '' } = session.value ?? {}
  if (kind === 'operator') await findChoices(new Sgw({ baseUrl: location.origin, apiKey: token }))
  me.value = (await client.value?.me()) ?? null
  // Only the events of the app's own messages arrive, so the view begins with these.
  if (kind === 'key' && me.value !== null) startWith('messages', { app: me.value.name ?? '' })
}

/** The ids of the tenant's apps by name. */
export const appIds = computed(() => {
  const { appId, name, tenantId } = me.value ?? {}
  const own = choices.value
    .filter((choice) => choice.tenantId === tenantId)
    .map((choice) => [choice.name, choice.appId] as const)
  return new Map(appId && name ? [[name, appId] as const, ...own] : own)
})

async function findChoices(operator: Sgw): Promise<void> {
  const [tenants, apps] = await Promise.all([listTenants(operator), listAllApps(operator)])
  const active = new Map(tenants.filter(({ status }) => status === 'active').map((tenant) => [tenant.tenantId, tenant]))
  choices.value = apps
    .filter((app) => app.isActive && active.has(app.tenantId))
    .map(({ appId, name, tenantId }) => ({ appId, name, tenantId, tenantName: active.get(tenantId)?.name ?? '' }))
  const last = readStored('local', LAST_APP)
  const [first] = active.keys()
  const choice =
    choices.value.find(({ appId }) => appId === last) ??
    choices.value.find(({ tenantId }) => tenantId === first) ??
    choices.value[0]
  chosenApp.value = choice?.appId ?? ''
}

/** Acts as another app from now on. */
export async function actAs({ appId }: AppChoice): Promise<void> {
  writeStored('local', LAST_APP, appId)
  chosenApp.value = appId
  me.value = (await client.value?.me()) ?? null
}

/** Runs a call. A session that the gateway no longer accepts ends; other errors are the caller's. */
export async function whileSignedIn<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 401)
      endSession('The session has ended. Sign in again.')
    throw error
  }
}
