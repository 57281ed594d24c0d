import { computed, signal } from '@preact/signals'
import { type Me, Sgw, SgwError } from '../../../client/client.ts'
import { GATEWAY, leaveTenant } from './address.ts'
import { listAllApps, listTenants } from './operator.ts'
import { endSession, session } from './session.ts'
import { readStored, writeStored } from './settings.ts'

/** An app of the console's choice: an operator can act as it. */
export interface AppChoice {
  appId: string
  name: string
  tenantId: string
  tenantName: string
}

/** The apps that an operator can act as, once they were asked for. */
export const choices = signal<readonly AppChoice[]>([])
const chosenApp = signal('')

/** Who the console acts as, from `GET /v1/me`. */
export const me = signal<Me | null>(null)

/** Whether an operator has no app to act as. */
export const hasNoApp = signal(false)

/** The client of the session, acting as the chosen app; null before there is one. */
export const client = computed(() => {
  const { token, kind } = session.value ?? { token: '', kind: 'key' }
  if (token === '' || (kind === 'operator' && chosenApp.value === '')) return null
  return new Sgw({
    baseUrl: GATEWAY,
    apiKey: token,
    ...(kind === 'operator' ? { appId: chosenApp.value } : {}),
  })
})

/** The client of an operator for what needs no app; null with an app's key. */
export const operator = computed(() => {
  const { token, kind } = session.value ?? {}
  return kind === 'operator' && token !== undefined ? new Sgw({ baseUrl: GATEWAY, apiKey: token }) : null
})

const LAST_APP = 'sgw.app'

/** Learns who the session is, and as which app it acts: the last used one, else the oldest of the first active tenant. */
export async function findCaller(): Promise<void> {
  choices.value = []
  chosenApp.value = operator.value === null ? '' : (readStored('local', LAST_APP) ?? '')
  const found = await readMe()
  // Nothing was used yet, or it is gone.
  if (found === null && operator.value !== null) await chooseApp()
  else me.value = found
}

async function readMe(): Promise<Me | null> {
  try {
    return (await client.value?.me()) ?? null
  } catch (error) {
    if (error instanceof SgwError && error.status === 401) endSession('The session has ended. Sign in again.')
    else if (!(error instanceof SgwError && error.status === 404)) throw error
    return null
  }
}

/** Acts as the first app there is. */
async function chooseApp(): Promise<void> {
  await readChoices()
  const [first] = choices.value
  hasNoApp.value = first === undefined
  if (first !== undefined) await actAs(first)
}

/** Acts as another app from now on. */
export async function actAs({ appId, tenantId }: Pick<AppChoice, 'appId' | 'tenantId'>): Promise<void> {
  if (me.value !== null && me.value.tenantId !== tenantId) leaveTenant()
  writeStored('local', LAST_APP, appId)
  chosenApp.value = appId
  me.value = await readMe()
}

/** Reads the apps that an operator can act as: those of all active tenants, the first tenant's first. */
export async function readChoices(): Promise<void> {
  if (operator.value === null) return
  const [tenants, apps] = await Promise.all([listTenants(operator.value), listAllApps(operator.value)])
  choices.value = tenants
    .filter(({ status }) => status === 'active')
    .flatMap(({ tenantId, name: tenantName }) =>
      apps
        .filter((app) => app.isActive && app.tenantId === tenantId)
        .map(({ appId, name }) => ({ appId, name, tenantId, tenantName })),
    )
}

/** The names of the tenant's apps by id, read when the first unknown one is shown. */
const names = signal<ReadonlyMap<string, string>>(new Map())
let namesAskedBy: Sgw | null = null

/** The name of an app; its id until names are read. */
export function appName(appId: string): string {
  if (appId === me.value?.appId) return me.value.name ?? appId
  const known = names.value.get(appId)
  if (known === undefined && appId !== '') void readNames()
  return known ?? appId
}

/** Reads the names of the tenant's apps, once for each app that the console acts as. */
export async function readNames(): Promise<void> {
  const sgw = client.peek()
  if (sgw === null || namesAskedBy === sgw) return
  namesAskedBy = sgw
  const apps = await sgw.apps.list().catch(() => [])
  names.value = new Map([...names.value, ...apps.map(({ appId, name }) => [appId, name] as const)])
}

/** The ids of known apps by name, for filters. */
export const appIds = computed(() => {
  const { appId, name } = me.value ?? {}
  const own = [...names.value].map(([id, itsName]) => [itsName, id] as const)
  return new Map(appId && name ? [...own, [name, appId] as const] : own)
})

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
