import { computed, signal } from '@preact/signals'
import { type Me, Sgw, SgwError } from '../../../client/client.ts'
import { GATEWAY } from './address.ts'
import type { TenantPage } from './operator.ts'
import { TENANTS, endSession, session } from './session.ts'
import { readStored, writeStored } from './settings.ts'

/** The app that an operator acts as, once the gateway has said whose it is; '' for none. */
export const chosenApp = signal('')

/** The app and tenant that the console acts for, from `GET /v1/me`. */
export const me = signal<Me | null>(null)

/** Whether an operator has no app to act as, or has not used one yet: the sign-in takes the first one. */
export const hasNoApp = signal(false)

export const clientWith = (apiKey: string, appId?: string): Sgw => new Sgw({ baseUrl: GATEWAY, apiKey, appId })

/** The client of the session, acting as the chosen app; null before there is one. */
export const client = computed(() => {
  if (session.value === null) return null
  const { token, kind } = session.value
  if (kind === 'key') return clientWith(token)
  return chosenApp.value === '' ? null : clientWith(token, chosenApp.value)
})

/** The client of an operator for calls that need no app; null with an app's key. */
export const operator = computed(() => (session.value?.kind === 'operator' ? clientWith(session.value.token) : null))

/** The client for a call that is made while somebody is signed in. */
export const asApp = (): Sgw => signedIn(client.peek())
export const asOperator = (): Sgw => signedIn(operator.peek())

function signedIn(sgw: Sgw | null): Sgw {
  if (sgw === null) throw new Error('Nobody is signed in')
  return sgw
}

export const LAST_APP = 'sgw.app'

/** How many tenants an operator has, as last read; remembered for the next load. */
const tenantCount = signal(Number(readStored('local', TENANTS)))

/** Whether the console begins with all tenants. */
export const hasAll = computed(() => operator.value !== null && tenantCount.value > 1)

/** Reads tenants, the oldest first, and notes how many there are. */
export async function readTenants(page = 1, limit = 100): Promise<TenantPage> {
  const found = await asOperator().request<TenantPage>('GET', '/v1/operator/tenants', { query: { page, limit } })
  tenantCount.value = found.total
  writeStored('local', TENANTS, String(found.total))
  return found
}

/** Reads whose session it is, and as which app it acts: the most recently used one. */
export async function findCaller(): Promise<void> {
  chosenApp.value = operator.value === null ? '' : (readStored('local', LAST_APP) ?? '')
  const isUncounted = operator.value !== null && readStored('local', TENANTS) === null
  const counted = isUncounted && readTenants(1, 1).catch(() => undefined)
  const [found] = await Promise.all([readMe(), counted])
  me.value = found
  // None was used yet, or it is gone.
  hasNoApp.value = found === null && operator.value !== null
}

/** Reloads whether the tenant is active. */
export async function readStatus(): Promise<void> {
  const sgw = client.peek()
  const found = await readMe().catch(() => null)
  if (found !== null && client.peek() === sgw) me.value = found
}

/** Null if the gateway does not know the key or the app. */
export async function readMe(sgw = client.value): Promise<Me | null> {
  try {
    return sgw && (await whileSignedIn(sgw.me()))
  } catch (error) {
    if (error instanceof SgwError && [401, 404].includes(error.status)) return null
    throw error
  }
}

/** The app that was chosen last, which the gateway may not have confirmed yet. */
export const wantedApp = { id: '' }

/** The names of the tenant's apps by id, read when the first unknown one is shown. */
const names = signal<ReadonlyMap<string, string>>(new Map())
let namesAskedBy: Sgw | null = null

/** The name of an app; its id until the names are read. */
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

export const appIds = computed(() => {
  const { appId, name } = me.value ?? {}
  const own = [...names.value].map(([id, itsName]) => [itsName, id] as const)
  return new Map(appId && name ? [...own, [name, appId] as const] : own)
})

export const ENDED = 'The session has ended. Sign in again.'

/** Makes a call. Ends a session that the gateway no longer accepts; other errors are the caller's. */
export async function whileSignedIn<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call
  } catch (error) {
    if (error instanceof SgwError && error.status === 401) endSession(ENDED)
    throw error
  }
}
