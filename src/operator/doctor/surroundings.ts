import type { Config } from '../../core/config.ts'
import { codeOf } from '../../core/error-code.ts'
import { errorName } from '../../core/log.ts'
import { freeBytes } from '../../db/storage-check.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { shortText } from '../../net/http/bounded-text.ts'
import { MAX_CLOCK_ERROR_MS } from '../../provider/clock-check.ts'
import { connectionFix } from '../../provider/refused-by-proxy.ts'
import { readBackup } from '../backup/read-backup.ts'
import { textOf } from '../conditions/condition.ts'
import { findLowDisk, mebibytes } from '../conditions/storage-failing.ts'
import { Fault } from './fault.ts'

const TIMEOUT_MS = 5000
const MAX_WAL_BYTES = 256 * 1_048_576
/** Litestream stores about 75 kB per message until it is uploaded. */
const MAX_KEPT_BYTES = 256 * 1_048_576

/** Needs no gateway. */
export function checkDisk({ database }: Pick<Config, 'database'>): string {
  const [low] = findLowDisk({ config: { database } })
  if (low !== undefined) throw new Fault(textOf(low))
  return database.path === null ? 'not on this machine' : `${mebibytes(freeBytes(database.path))} free`
}

/** With a bad configuration nothing opens, so only a name that is probably misspelled is left to report. */
export function checkConfiguration({ config: { production, warnings } }: Pick<Gateway, 'config'>): string {
  const mode = production ? 'production' : 'development'
  if (warnings.length > 0) throw new Fault(`${mode}; ${warnings.join(' ')}`, 'warn')
  return mode
}

/** Calls the provider without credentials. */
export async function checkProvider({ config }: Pick<Gateway, 'config'>): Promise<string> {
  if (config.provider.simulated) return 'the built-in simulator'
  const { serverUrl } = config.provider
  const response = await callProvider(config.provider)
  const answers = `${serverUrl} answers ${response.status}`
  if (await isOfProvider(response)) return answers
  throw new Fault(`${answers}, but not as RingCentral does: look for a proxy, a firewall or a CDN in between`, 'warn')
}

/** The provider's own answer is JSON: the versions of the API, or an error with codes. */
async function isOfProvider(response: Response): Promise<boolean> {
  const body: unknown = await new Response(await shortText(response)).json().catch(() => null)
  if (typeof body !== 'object' || body === null) return false
  return ['apiVersions', 'errorCode', 'errors'].some((member) => member in body)
}

async function callProvider({ serverUrl, throughProxy }: Config['provider']): Promise<Response> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const direct = throughProxy ? {} : { proxy: false as const }
  return fetch(`${serverUrl}/restapi`, { redirect: 'manual', signal, ...direct }).catch((error: unknown) => {
    const fix = connectionFix(codeOf(error), throughProxy, 'RC_SERVER_URL, DNS and the firewall')
    throw new Fault(`${serverUrl} cannot be reached (${errorName(error)}): ${fix}`)
  })
}

/** Checks RC_CLIENT_ID and RC_CLIENT_SECRET by a refresh that cannot succeed. The error says whether the client or the token was refused. */
export async function checkCredentials({ config, provider }: Gateway): Promise<string> {
  if (config.provider.simulated) return 'the built-in simulator accepts them'
  const result = await provider.refresh('sgw-doctor')
  if (result.ok) return 'the provider knows the client'
  const { oauthError, message } = result.failure
  // An app without refresh tokens may not use this grant, but only a known client gets that answer.
  if (oauthError === 'invalid_grant' || oauthError === 'unauthorized_client') return 'the provider knows the client'
  if (oauthError === 'invalid_client') return 'refused'
  throw new Fault(`unknown: ${message}`, 'warn')
}

/** Compares this machine's clock with the `Date` header of the provider. */
export async function checkClock({ config, clock, clockCheck }: Gateway): Promise<string> {
  if (clockCheck.isWrong) return 'wrong'
  if (config.provider.simulated) return 'the built-in simulator has the same one'
  const response = await callProvider(config.provider).catch(() => null)
  const aheadMs = clock.now() - Date.parse(response?.headers.get('date') ?? '')
  const seconds = Math.ceil(Math.abs(aheadMs) / 1000)
  if (response !== null && !(await isOfProvider(response)))
    throw new Fault('unknown: the provider did not answer', 'warn')
  if (Number.isNaN(aheadMs)) throw new Fault('unknown: the provider sent no Date header', 'warn')
  if (Math.abs(aheadMs) > MAX_CLOCK_ERROR_MS)
    throw new Fault(
      `This machine's clock is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} the provider's. Set the clock with NTP.`,
    )
  return `within ${seconds} s of the provider's`
}

/** Calls this gateway by its public address: checks DNS, the certificate, the proxy, and whether the proxy is trusted. */
export async function checkPublicUrl({ config }: Pick<Gateway, 'config'>): Promise<string> {
  const { publicUrl, provider, production } = config
  const { hostname } = new URL(publicUrl)
  if (provider.simulated) return publicUrl
  if (provider.events === 'websocket' && !config.hasPublicUrl) return withoutPublicUrl(config)
  if (hostname === 'localhost' || hostname.startsWith('127.')) {
    if (provider.events === 'websocket')
      return `${publicUrl} is only reachable from this machine, which is enough for a browser here; ${OVER_SOCKETS}`
    throw new Fault(
      `${publicUrl} is only reachable from this machine: set PUBLIC_URL to the https:// address that the provider can reach`,
    )
  }
  if (!production) return publicUrl
  const response = await fetch(`${publicUrl}/v1/apps`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new Fault(
      `${publicUrl} cannot be reached from here (${errorName(error)}): check DNS, the certificate and the proxy; some routers accept this address only from other networks`,
    )
  })
  // The gateway answers 401 without a key, but only after a trusted proxy has said that the request came by HTTPS.
  if (response.status === 401) return `${publicUrl} leads here, through a trusted proxy`
  if (response.status === 403)
    throw new Fault(
      `${publicUrl} answers "HTTPS required": name the proxy's address in TRUSTED_PROXIES, and let it set X-Forwarded-Proto`,
    )
  throw new Fault(`${publicUrl} answers ${response.status}: check that the proxy forwards everything to this gateway`)
}

const OVER_SOCKETS = 'inbound messages come over sockets that this gateway opens'

function withoutPublicUrl({ plainHttpCidrs, production }: Config): string {
  const near = production && plainHttpCidrs.length > 0 ? ` or in ${plainHttpCidrs.join(', ')}` : ''
  return `none: ${OVER_SOCKETS}, and only programs on this machine${near} call it`
}

/** Says how far the backup is behind, and why it may be. `sgw restore --check` reads the backup itself. */
export async function checkBackup(gateway: Gateway): Promise<string> {
  const { state, walBytes, keptBytes, lagMs } = await readBackup(gateway)
  if (state === 'off') return checkBackupSetting(gateway.config, gateway.lifecycle.working)
  if (walBytes > MAX_WAL_BYTES)
    throw new Fault(
      `the write-ahead log has ${mebibytes(walBytes)}: Litestream does not copy; see its log, and LITESTREAM_REPLICA_URL`,
    )
  if (keptBytes > MAX_KEPT_BYTES)
    throw new Fault(
      `Litestream keeps ${mebibytes(keptBytes)} beside the database, so it cannot upload: see its log, and run sgw restore --check`,
    )
  return `at most ${Math.ceil((lagMs ?? 0) / 1000)} s behind; a drill checks it fully: sgw restore --check`
}

/** Reports what the configuration says about the backup. Without a server, only a drill can say more. */
export function checkBackupSetting({ backupAddress, production }: Config, isRunning: boolean): string {
  if (backupAddress === null) {
    const advice = 'off: set LITESTREAM_REPLICA_URL and start the gateway with the entry point (docs/backup.md)'
    if (production) throw new Fault(advice, 'warn')
    return advice
  }
  if (!isRunning) return `a backup at ${backupAddress} is set; check it: sgw restore --check`
  throw new Fault(
    'off: LITESTREAM_REPLICA_URL is set, but the gateway was not started with the entry point (docs/backup.md)',
    'warn',
  )
}
