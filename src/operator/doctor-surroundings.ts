import { errorName } from '../core/log.ts'
import { readBackupLag } from '../db/backup-lag.ts'
import type { Gateway } from '../gateway.ts'
import { Fault } from './fault.ts'

const TIMEOUT_MS = 5000
const MAX_CLOCK_SKEW_MS = 30_000
const MAX_WAL_BYTES = 256 * 1_048_576
/** Litestream keeps some 75 kB a message until it is uploaded. */
const MAX_KEPT_BYTES = 256 * 1_048_576
const MAX_LAG_MS = 60_000

/** Reaches the provider without credentials. */
export async function checkProvider({ config }: Gateway): Promise<string> {
  if (config.provider.simulated) return 'the built-in simulator'
  const { serverUrl } = config.provider
  const { status } = await askProvider(serverUrl)
  return `${serverUrl} answers ${status}`
}

async function askProvider(serverUrl: string): Promise<Response> {
  return fetch(`${serverUrl}/restapi`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
    throw new Fault(`${serverUrl} cannot be reached (${errorName(error)}): check RC_SERVER_URL, DNS and the firewall`)
  })
}

/** The client's id and secret, by a refresh that cannot succeed: which of the two is wrong tells. */
export async function checkCredentials({ config, provider }: Gateway): Promise<string> {
  if (config.provider.simulated) return 'the built-in simulator knows us'
  const result = await provider.refresh('sgw-doctor')
  if (result.ok || result.failure.oauthError === 'invalid_grant') return 'the provider knows the client'
  const { oauthError, message } = result.failure
  if (oauthError === 'invalid_client')
    throw new Fault(
      'the provider does not know the client: copy RC_CLIENT_ID and RC_CLIENT_SECRET from the developer console again',
    )
  throw new Fault(`not known: ${message}`, 'warn')
}

/** Compares this machine's clock with the provider's, by its Date header. */
export async function checkClock({ config, clock }: Gateway): Promise<string> {
  if (config.provider.simulated) return 'the built-in simulator has the same one'
  const response = await askProvider(config.provider.serverUrl).catch(() => null)
  const skewMs = Math.abs(Date.parse(response?.headers.get('date') ?? '') - clock.now())
  if (Number.isNaN(skewMs)) throw new Fault('not known: the provider did not say what time it is', 'warn')
  if (skewMs > MAX_CLOCK_SKEW_MS) {
    throw new Fault(`this machine's clock is ${Math.round(skewMs / 1000)} s off the provider's: set up NTP`)
  }
  return `within ${Math.ceil(skewMs / 1000)} s of the provider's`
}

/** Goes out and comes back in by the public address: DNS, certificate, proxy, and whether the proxy is trusted. */
export async function checkPublicUrl({ config }: Gateway): Promise<string> {
  const { publicUrl, provider, production } = config
  const { hostname } = new URL(publicUrl)
  if (provider.simulated) return publicUrl
  if (hostname === 'localhost' || hostname.startsWith('127.')) {
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
      `${publicUrl} cannot be reached from here (${errorName(error)}): check DNS, the certificate and the proxy; behind some routers only others can reach it`,
    )
  })
  // Without a key the gateway itself answers 401; before that it wants HTTPS, by the word of a trusted proxy.
  if (response.status === 401) return `${publicUrl} leads here, through a trusted proxy`
  if (response.status === 403)
    throw new Fault(
      `${publicUrl} answers "HTTPS required": name the proxy's address in TRUSTED_PROXIES, and let it set X-Forwarded-Proto`,
    )
  throw new Fault(`${publicUrl} answers ${response.status}: does the proxy pass everything on to this gateway?`)
}

/** What this machine can see of the backup; `sgw restore --check` looks at the backup itself. */
export function checkBackup(gateway: Gateway): string {
  if (!gateway.config.litestream) return 'off: set LITESTREAM_REPLICA_URL and start by the entry point (docs/backup.md)'
  const { walBytes, keptBytes, lagMs } = readBackupLag(gateway.config.database.path)
  if (walBytes > MAX_WAL_BYTES)
    throw new Fault(
      `the write-ahead log has ${Math.round(walBytes / 1_048_576)} MiB: Litestream does not copy; see its log, and LITESTREAM_REPLICA_URL`,
    )
  if (keptBytes > MAX_KEPT_BYTES)
    throw new Fault(
      `Litestream keeps ${Math.round(keptBytes / 1_048_576)} MiB beside the database, so it cannot upload: see its log, and sgw restore --check`,
    )
  if (lagMs === null) throw new Fault('Litestream has not begun: start the gateway by the entry point, not alone')
  if (lagMs > MAX_LAG_MS) throw new Fault(`Litestream is ${Math.round(lagMs / 1000)} s behind: see its log`)
  return `at most ${Math.ceil(lagMs / 1000)} s behind; a drill tells more: sgw restore --check`
}
