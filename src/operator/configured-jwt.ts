import { asc, desc, eq, inArray, isNotNull } from 'drizzle-orm'
import { connectByJwt } from '../api/rc/connect-by-jwt.ts'
import { isoTime } from '../core/clock.ts'
import { DEFAULT_PENALTY_MS } from '../core/limits.ts'
import { connectedJwts, extensions } from '../db/schema/connections.ts'
import { tenants } from '../db/schema/tenants.ts'
import type { Gateway } from '../messages/gateway.ts'
import type { Timers } from '../messages/jobs/timers.ts'
import type { JwtProblem, JwtState } from '../provider/configured-jwt.ts'
import type { ExtensionRow } from '../provider/directory.ts'
import type { ProviderFailure } from '../provider/provider.ts'
import { meansRevoked } from '../provider/refresh-policy.ts'
import { isRefusedByProxy } from '../provider/refused-by-proxy.ts'
import { decryptJwt } from '../provider/stored-credentials.ts'
import { createApp } from './apps.ts'
import { createTenant } from './tenants.ts'

const RETRY_FIRST_MS = 10_000
const RETRY_MAX_MS = 10 * 60_000

/** Connects the extension of RC_JWT, if it is set. Retries while the provider cannot be reached, but not after a refusal. */
export function connectConfigured(timers: Timers, gateway: Gateway, delayMs = 0, backoffMs = RETRY_FIRST_MS): void {
  const { jwt } = gateway.config.provider
  if (jwt === null) return
  timers.once('RC_JWT', delayMs, async () => {
    let nextMs: number | null = backoffMs
    try {
      const state = await connect(gateway, jwt, backoffMs)
      gateway.configuredJwt.state = state
      logProblem(gateway, state)
      nextMs = 'nextAt' in state && state.nextAt !== null ? state.nextAt - gateway.clock.now() : null
    } finally {
      if (nextMs !== null) connectConfigured(timers, gateway, nextMs, Math.min(backoffMs * 2, RETRY_MAX_MS))
    }
  })
}

/** Under a supervisor, a start reports only through the log. */
function logProblem({ log }: Gateway, state: JwtState): void {
  if (!('fix' in state)) return
  const { variable, tenantId, codes, fix, nextAt } = state
  const again = nextAt === null ? {} : { nextAt: isoTime(nextAt) }
  log.warn({ tenantId: tenantId ?? undefined, codes, fix, ...again }, `${variable} connects no extension`)
}

/** A JWT that was connected before is presented only for an extension that still uses it, so that no start undoes a disconnection. */
async function connect(gateway: Gateway, jwt: string, backoffMs: number): Promise<JwtState> {
  const holders = await holdersOf(gateway, jwt)
  const wasConnected = await isKnown(gateway, jwt)
  if (holders.length === 0)
    return wasConnected ? spent(gateway) : present(gateway, jwt, await firstTenant(gateway), backoffMs)
  for (const { tenantId } of holders.filter(({ status }) => status === 'revoked')) {
    const state = await present(gateway, jwt, tenantId, backoffMs)
    // A refused extension stays revoked, and its state says what to do.
    if (state.kind === 'waits') return state
  }
  return heldBy(gateway, holders, await firstTenant(gateway))
}

/** The first tenant may have no extension while another tenant's uses the JWT. A start does not connect it to a second tenant. */
async function heldBy(gateway: Gateway, holders: readonly ExtensionRow[], first: string): Promise<JwtState> {
  const { extensions: own } = await gateway.directory.tenant(first)
  const [holder] = holders
  if (holder === undefined || own.size > 0) return { kind: 'connected' }
  const { extensionId, tenantId } = holder
  const fix = `Extension ${extensionId} of ${tenantId} already uses it, so the gateway does not connect it to ${first} when it starts. Remove ${variableOf(gateway)}, or connect it there, too: sgw extensions connect-jwt --tenant ${first} --jwt-file FILE`
  return { ...spent(gateway), tenantId: first, fix }
}

const variableOf = ({ config }: Gateway): JwtProblem['variable'] => config.provider.jwtVariable

const spent = (gateway: Gateway): JwtProblem => ({
  kind: 'spent',
  variable: variableOf(gateway),
  tenantId: null,
  codes: '',
  nextAt: null,
  fix: `It was connected before, but no extension uses it now (it was disconnected, or reconnected in another way), so the gateway does not present it again when it starts. Remove ${variableOf(gateway)}, or connect it with sgw extensions connect-jwt --tenant TENANT --jwt-file FILE.`,
})

async function holdersOf({ database, secrets }: Gateway, jwt: string): Promise<ExtensionRow[]> {
  const rows = await database.orm.select().from(extensions).where(isNotNull(extensions.jwt))
  const known = await Promise.all(rows.map((row) => decryptJwt(secrets, row).catch(() => null)))
  return rows.filter((_, index) => known[index] === jwt)
}

/** Also moves the hash to the newest encryption key, so that older ones may be removed. */
async function isKnown({ database: { orm }, secrets }: Gateway, jwt: string): Promise<boolean> {
  const hashes = secrets.hashes(jwt)
  const found = await orm.select().from(connectedJwts).where(inArray(connectedJwts.hash, hashes))
  if (found.length > 0)
    await orm
      .insert(connectedJwts)
      .values({ hash: secrets.hash(jwt) })
      .onConflictDoNothing()
  return found.length > 0
}

/** The oldest active tenant, or the oldest of all. A gateway without a tenant gets its first one, with an app. */
async function firstTenant(gateway: Gateway): Promise<string> {
  const [first] = await gateway.database.orm
    .select({ tenantId: tenants.id })
    .from(tenants)
    .orderBy(desc(eq(tenants.status, 'active')), asc(tenants.createdAt), asc(tenants.id))
    .limit(1)
  if (first !== undefined) return first.tenantId
  const { tenantId } = await createTenant(gateway, { name: 'Default' })
  // Nobody sees this key: sgw app rotate-key makes and shows a new one.
  await createApp(gateway, { tenantId, name: 'Default', webhookUrl: null, role: 'app' })
  return tenantId
}

async function present(gateway: Gateway, jwt: string, tenantId: string, backoffMs: number): Promise<JwtState> {
  const request = { tenantId, requestId: gateway.ids.of('req') }
  const first = await connectByJwt(gateway, jwt, request)
  const isFree = first.type === 'other_account' && (await areAllRevoked(gateway, tenantId))
  const result = isFree ? await connectByJwt(gateway, jwt, request) : first
  const variable = variableOf(gateway)
  const refused: JwtProblem = { kind: 'refused', variable, tenantId, codes: '', fix: '', nextAt: null }
  if (result.type === 'connected') {
    const { extensionId, receiving } = result
    gateway.log.info({ tenantId, extensionId, receiving }, `${variable} is connected`)
    return { kind: 'connected' }
  }
  if (result.type === 'other_account') return { ...refused, fix: await fixOfAccount(gateway, variable, tenantId) }
  if (result.type === 'tenant_not_active') return { ...refused, fix: inactive(variable, tenantId) }
  const { failure, fix } = result
  const codes = [failure.status ?? '', failure.code ?? ''].join(' ').trim()
  if (passes(failure)) {
    const nextAt = gateway.clock.now() + Math.max(backoffMs, pauseMsOf(failure))
    return { ...refused, kind: 'waits', codes, fix: isAway(failure) ? AWAY : fix, nextAt }
  }
  const kind = failure.oauthError === 'invalid_client' ? 'client' : 'refused'
  return { ...refused, kind, codes, fix: `${fix} ${nextStep(failure, variable, tenantId)}` }
}

/**
 * Asks for the tokens of the tenant's extensions: extensions left over from a simulator, or from an account that is gone, must not keep out
 * another account.
 */
async function areAllRevoked({ directory, tokens }: Gateway, tenantId: string): Promise<boolean> {
  const { extensions: connected } = await directory.tenant(tenantId)
  for (const extensionId of connected.keys()) await tokens.refresh({ tenantId, extensionId })
  const { extensions: now } = await directory.tenant(tenantId)
  return now.values().every(({ status }) => status === 'revoked')
}

/** The other account is often the simulator's, from a trial run. */
async function fixOfAccount({ directory }: Gateway, variable: string, tenantId: string): Promise<string> {
  const { extensions: connected } = await directory.tenant(tenantId)
  const commands = [...connected.keys()].map((id) => `sgw extensions disconnect ${id} --tenant ${tenantId}`).join('; ')
  const tenant = `another tenant (sgw tenant create --name NAME): ${connectCommand('TENANT')}`
  return `The tenant is connected to another RingCentral account, or to the simulator of an earlier start. If it no longer needs that: ${commands}. Then restart. Otherwise remove ${variable}, and connect it to ${tenant}`
}

const connectCommand = (tenantId: string): string => `sgw extensions connect-jwt --tenant ${tenantId} --jwt-file FILE`

const inactive = (variable: string, tenantId: string): string =>
  `The tenant is not active: sgw tenant activate ${tenantId}. Then restart with ${variable}, or run: ${connectCommand(tenantId)}`

/** The fix, in one step. The kind of authentication of an app never changes, and the client's variables are read only at a start. */
function nextStep({ oauthError }: ProviderFailure, variable: string, tenantId: string): string {
  if (oauthError === 'invalid_client') return 'Then restart.'
  if (oauthError === 'unauthorized_client')
    return `Register such an app, set its RC_CLIENT_ID and RC_CLIENT_SECRET, and ${variable} for it, and restart.`
  return `Then restart with ${variable}, or run: ${connectCommand(tenantId)}`
}

/** Nobody has to try again: the gateway does. */
const AWAY = 'RingCentral could not be reached, or gave an unexpected answer: sgw doctor says what is wrong.'

const isAway = ({ reason, code }: ProviderFailure): boolean =>
  ['unreachable', 'ambiguous', 'unavailable'].includes(reason) && !isRefusedByProxy(code)

/** Each attempt during a provider's pause prolongs it. */
const pauseMsOf = ({ reason, retryAfterMs }: ProviderFailure): number =>
  retryAfterMs ?? (reason === 'rate_limited' ? DEFAULT_PENALTY_MS : 0)

/** Whether the failure says nothing about the JWT and may end without help. A suspended user is reported as such. */
const passes = (failure: ProviderFailure): boolean =>
  failure.reason !== 'rejected' || (failure.oauthError === 'invalid_grant' && !meansRevoked(failure))
