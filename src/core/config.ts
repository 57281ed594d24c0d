import {
  readAlertUrl,
  readCidrs,
  readHost,
  readOrigins,
  readPlainHttpCidrs,
  readPublicUrl,
  readTrustedProxies,
  refuseUncheckedTls,
  withoutSecrets,
} from './network-config.ts'
import { readEncryptionKeys } from './encryption-config.ts'
import { type ProviderConfig, readProvider } from './provider-config.ts'
import { sha256Hex } from './secrets.ts'
import { type Environment, Settings } from './settings.ts'
import { type Durability, readDurability, readStandby } from './durability-config.ts'
import { ALSO_KNOWN, similarNames } from './similar-names.ts'

/** Everything that an operator can set, read once at the start. `docs/configure.md` describes the variables. */
export interface Config {
  production: boolean
  host: string
  port: number
  /** Base address of the OAuth redirect and the provider's webhook, without a trailing slash. This machine's address without `PUBLIC_URL`. */
  publicUrl: string
  /** Without it, production serves plain HTTP, but not to everyone. */
  hasPublicUrl: boolean
  database: DatabaseConfig
  /** Start even if no stored secret can be decrypted, and be ready even if some cannot. */
  allowNewKeys: boolean
  /** 32 bytes each, newest first. Null if none is set; the gateway then keeps a key beside the database. */
  encryptionKeys: Uint8Array[] | null
  provider: ProviderConfig
  trustedProxies: string[]
  /** Who may use plain HTTP in production without a public address, besides this machine. */
  plainHttpCidrs: string[]
  corsOrigins: string[]
  webhookAllowCidrs: string[]
  keyLimitPerMinute: number
  fromLimitPerMinute: number
  /** Null: the provider's own limit counts. */
  extensionLimitPerMinute: number | null
  /** For active apps and triggers. A tenant that has more keeps them. */
  maxAppsPerTenant: number
  maxTriggersPerTenant: number
  /** For all media together; 0: nothing can be uploaded. */
  mediaLimitBytes: number
  maxQueueAgeMs: number
  inviteTokenTtlMs: number
  /** Null: messages are kept forever. */
  messageRetentionDays: number | null
  /** How long `GET /v1/events` can catch up. */
  eventRetentionMs: number
  /** Concurrent calls to the provider. Calls through a proxy use `fetch`, for which Bun reads the same variable. */
  callsAtOnce: number
  providerTimeoutMs: number
  reconcileSettleMs: number
  reconcileSettle500Ms: number
  /** Whether the gateway asks the provider what happened to messages after `sent`. */
  deliveryTracking: boolean
  /** Polls follow each other within milliseconds. Only for the built-in simulator, which then has no limits on calls. */
  fastDeliveryPolls: boolean
  /** Whether the listener serves the console and `/v1/operator/*`. */
  console: boolean
  /** Where alerts are posted; it may hold a secret. */
  alertUrl: string | null
  litestream: boolean
  durability: Durability
  /** Whether other gateways with the same configuration may take over. */
  standby: boolean
  /** The backup's location, without secrets; null if none is set. The entry point and `sgw restore` read the full variable. */
  backupAddress: string | null
  requireRestore: boolean
  logLevel: string
  logFormat: 'json' | 'pretty'
  adminPort: number | null
  /** Warnings about unknown variables that resemble one of sgw's. */
  warnings: string[]
  /** A hash of the value of each variable that is set, so that two environments can be compared without their secrets. */
  variables: Readonly<Record<string, string>>
}

export interface DatabaseConfig {
  url: string
  authToken: string | null
  /** The file behind a `file:` URL; null for a libSQL server. */
  path: string | null
}

/**
 * `warnings`: the configuration's, even if it is bad. `rest` is a bad configuration with a default for each bad value: no start may use it,
 * but a command that only needs to find the running server may.
 */
export type ConfigResult = ({ ok: true; config: Config } | { ok: false; problems: string[]; rest: Config }) & {
  warnings: string[]
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Reads and checks all variables. Reports all problems at once, each with its fix. */
export function readConfig(environment: Environment, terminal = false): ConfigResult {
  const settings = new Settings(environment)
  const values = configOf(settings, terminal)
  const variables = digestsOf(settings.read)
  // Bun and Litestream read these, and would treat quotes as part of the value.
  for (const name of ALSO_KNOWN) settings.text(name)
  refuseUncheckedTls(settings, values.production)
  const { problems } = settings
  const warnings = [...similarNames(Object.keys(environment.values), settings.read), ...unusedNames(settings)]
  const config = { ...values, warnings, variables }
  return problems.length === 0 ? { ok: true, config, warnings } : { ok: false, problems, rest: config, warnings }
}

const digestsOf = (read: ReadonlyMap<string, string | null>): Config['variables'] =>
  Object.fromEntries([...read].flatMap(([name, value]) => (value === null ? [] : [[name, sha256Hex(value)]])))

function configOf(settings: Settings, terminal: boolean): Omit<Config, 'warnings' | 'variables'> {
  const production = settings.oneOf('NODE_ENV', ['development', 'production', 'test'], 'development') === 'production'
  const port = settings.integer('PORT', 3000, 0, 65_535)
  const times = {
    providerTimeoutMs: settings.durationMs('PROVIDER_TIMEOUT', '15s', 100),
    reconcileSettleMs: settings.durationMs('RECONCILE_SETTLE', '30s'),
  }
  const durability = readDurability(settings)
  const publicUrl = readPublicUrl(settings, production, port)
  const database = readDatabase(settings)
  const encryptionKeys = readEncryptionKeys(settings, production, database.path)
  const provider = readProvider(settings, production)
  const access = readAccess(settings, production)
  return {
    production,
    host: readHost(settings, production ? '0.0.0.0' : '127.0.0.1'),
    port,
    publicUrl,
    hasPublicUrl: settings.text('PUBLIC_URL') !== null,
    database,
    allowNewKeys: settings.flag('ALLOW_NEW_KEYS'),
    encryptionKeys,
    provider,
    ...access,
    ...readLimits(settings),
    ...readRetention(settings),
    callsAtOnce: settings.integer('BUN_CONFIG_MAX_HTTP_REQUESTS', provider.throughProxy ? 256 : 1024, 128, 65_535),
    ...times,
    reconcileSettle500Ms: settings.durationMs('RECONCILE_SETTLE_5XX', '3s'),
    deliveryTracking: settings.flag('DELIVERY_TRACKING', 'on'),
    fastDeliveryPolls: false,
    console: settings.flag('CONSOLE', 'on'),
    alertUrl: readAlertUrl(settings, production, access.webhookAllowCidrs),
    durability,
    standby: readStandby(settings, durability, times),
    ...readBackup(settings),
    ...readLogging(settings, terminal),
    adminPort: settings.text('ADMIN_PORT') === null ? null : settings.integer('ADMIN_PORT', 0, 0, 65_535),
  }
}

/** Which addresses may call this gateway, and which it may call. */
const readAccess = (settings: Settings, production: boolean) => ({
  trustedProxies: readTrustedProxies(settings, production),
  plainHttpCidrs: readPlainHttpCidrs(settings),
  corsOrigins: readOrigins(settings),
  webhookAllowCidrs: readCidrs(settings, 'WEBHOOK_ALLOW_CIDRS'),
})

const readLimits = (settings: Settings) => ({
  keyLimitPerMinute: settings.integer('KEY_LIMIT_PER_MINUTE', 100, 1, 1_000_000_000),
  fromLimitPerMinute: settings.integer('FROM_LIMIT_PER_MINUTE', 40, 1, 1_000_000_000),
  extensionLimitPerMinute:
    settings.text('EXTENSION_LIMIT_PER_MINUTE') === null
      ? null
      : settings.integer('EXTENSION_LIMIT_PER_MINUTE', 40, 1, 1_000_000_000),
  maxAppsPerTenant: settings.integer('MAX_APPS_PER_TENANT', 100, 1, 1_000_000),
  maxTriggersPerTenant: settings.integer('MAX_TRIGGERS_PER_TENANT', 50, 1, 1_000_000),
  mediaLimitBytes: settings.bytes('MEDIA_LIMIT', '500MB'),
})

/** How long things may wait or are kept. */
const readRetention = (settings: Settings) => ({
  maxQueueAgeMs: settings.durationMs('MAX_QUEUE_AGE', '24h', 1000),
  inviteTokenTtlMs: settings.durationMs('INVITE_TOKEN_TTL', '7d', 1000),
  messageRetentionDays:
    settings.text('MESSAGE_RETENTION_DAYS') === null ? null : settings.integer('MESSAGE_RETENTION_DAYS', 30, 1, 36_500),
  eventRetentionMs: settings.durationMs('EVENT_RETENTION', '72h', 1000),
})

const readBackup = (settings: Settings) => ({
  litestream: settings.flag('LITESTREAM'),
  backupAddress: readBackupAddress(settings),
  requireRestore: settings.flag('REQUIRE_RESTORE'),
})

const readLogging = (settings: Settings, terminal: boolean): Pick<Config, 'logLevel' | 'logFormat'> => ({
  logLevel: settings.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
  logFormat: settings.oneOf('LOG_FORMAT', ['json', 'pretty'], terminal ? 'pretty' : 'json'),
})

function readDatabase(settings: Settings): DatabaseConfig {
  const url = settings.text('DATABASE_URL') ?? 'file:./data/sgw.db'
  const authToken = settings.secret('DATABASE_AUTH_TOKEN')
  if (url.startsWith('file:')) {
    const path = url.slice('file:'.length).replace(/^\/\/(?=\/)/, '')
    if (path === '' || path.includes('?') || path.startsWith(':')) {
      settings.problem('DATABASE_URL', `is "${url}"`, 'name a file, for example file:./data/sgw.db')
    }
    return { url: `file:${path}`, authToken, path }
  }
  if (/^(libsql|https?):\/\//.test(url)) {
    settings.problem(
      'DATABASE_URL',
      'names a libSQL server',
      'this release stores data in a local file: use file:./data/sgw.db',
    )
  } else {
    settings.problem('DATABASE_URL', `is "${url}"`, 'give file:PATH')
  }
  return { url, authToken, path: null }
}

function readBackupAddress(settings: Settings): string | null {
  const url = settings.text('LITESTREAM_REPLICA_URL')
  return url === null ? null : withoutSecrets(url)
}

/** This variable suggests a cluster, but changes nothing. */
const unusedNames = (settings: Settings): string[] =>
  settings.text('REDIS_URL') === null
    ? []
    : ['REDIS_URL is set, and nothing uses it: sgw is one process over one file. Remove it']
