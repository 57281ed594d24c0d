import ipaddr from 'ipaddr.js'
import { type Environment, Settings } from './settings.ts'

/** Everything an operator can set, read once at the start. decisions: the README's table of variables. */
export interface Config {
  production: boolean
  host: string
  port: number
  /** Base address without a trailing slash: OAuth redirect and provider webhook are built on it. */
  publicUrl: string
  database: DatabaseConfig
  /** 32 bytes each, newest first; null in development when none is given: made and kept beside the database. */
  encryptionKeys: Uint8Array[] | null
  provider: ProviderConfig
  trustedProxies: string[]
  corsOrigins: string[]
  webhookAllowCidrs: string[]
  keyLimitPerMinute: number
  fromLimitPerMinute: number
  extensionLimitPerMinute: number
  /** Active ones. A tenant that has more keeps them. */
  maxAppsPerTenant: number
  maxTriggersPerTenant: number
  maxQueueAgeMs: number
  inviteTokenTtlMs: number
  /** Null keeps messages for ever. */
  messageRetentionDays: number | null
  /** Calls to the provider at once. Through a proxy they are `fetch`'s, for which Bun reads the same variable. */
  callsAtOnce: number
  providerTimeoutMs: number
  reconcileSettleMs: number
  reconcileSettle5xxMs: number
  litestream: boolean
  requireRestore: boolean
  logLevel: string
  logFormat: 'json' | 'pretty'
  adminPort: number | null
}

export interface DatabaseConfig {
  url: string
  authToken: string | null
  /** The file behind a `file:` URL; null for a libSQL server. */
  path: string | null
}

export interface ProviderConfig {
  serverUrl: string
  clientId: string
  clientSecret: string
  /** True when the built-in simulator serves instead of the provider. */
  simulated: boolean
  /** The environment names a proxy for the provider's address. */
  throughProxy: boolean
}

export type ConfigResult = { ok: true; config: Config } | { ok: false; problems: string[] }

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const SIMULATOR_CLIENT = { id: 'sgw-simulator', secret: 'sgw-simulator-secret' } as const

/** Reads and checks the whole environment; all problems at once, each with its fix. */
export function readConfig(environment: Environment, terminal = false): ConfigResult {
  const settings = new Settings(environment)
  const production = settings.oneOf('NODE_ENV', ['development', 'production', 'test'], 'development') === 'production'
  const port = settings.integer('PORT', 3000, 0, 65_535)
  const config: Config = {
    production,
    host: settings.text('HOST') ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port,
    publicUrl: readPublicUrl(settings, production, port),
    database: readDatabase(settings),
    encryptionKeys: readEncryptionKeys(settings, production),
    provider: readProvider(settings, production),
    trustedProxies: readCidrs(settings, 'TRUSTED_PROXIES'),
    corsOrigins: readOrigins(settings),
    webhookAllowCidrs: readCidrs(settings, 'WEBHOOK_ALLOW_CIDRS'),
    keyLimitPerMinute: settings.integer('KEY_LIMIT_PER_MINUTE', 100, 1, 1_000_000_000),
    fromLimitPerMinute: settings.integer('FROM_LIMIT_PER_MINUTE', 40, 1, 1_000_000_000),
    extensionLimitPerMinute: settings.integer('EXTENSION_LIMIT_PER_MINUTE', 40, 1, 1_000_000_000),
    maxAppsPerTenant: settings.integer('MAX_APPS_PER_TENANT', 100, 1, 1_000_000),
    maxTriggersPerTenant: settings.integer('MAX_TRIGGERS_PER_TENANT', 50, 1, 1_000_000),
    maxQueueAgeMs: settings.durationMs('MAX_QUEUE_AGE', '24h', 1000),
    inviteTokenTtlMs: settings.durationMs('INVITE_TOKEN_TTL', '7d', 1000),
    messageRetentionDays:
      settings.text('MESSAGE_RETENTION_DAYS') === null
        ? null
        : settings.integer('MESSAGE_RETENTION_DAYS', 30, 1, 36_500),
    callsAtOnce: settings.integer('BUN_CONFIG_MAX_HTTP_REQUESTS', namesProxy(settings) ? 256 : 1024, 128, 65_535),
    providerTimeoutMs: settings.durationMs('PROVIDER_TIMEOUT', '15s', 100),
    reconcileSettleMs: settings.durationMs('RECONCILE_SETTLE', '30s'),
    reconcileSettle5xxMs: settings.durationMs('RECONCILE_SETTLE_5XX', '3s'),
    litestream: settings.flag('LITESTREAM'),
    requireRestore: settings.flag('REQUIRE_RESTORE'),
    logLevel: settings.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    logFormat: settings.oneOf('LOG_FORMAT', ['json', 'pretty'], terminal ? 'pretty' : 'json'),
    adminPort: settings.text('ADMIN_PORT') === null ? null : settings.integer('ADMIN_PORT', 0, 0, 65_535),
  }
  refuseRedis(settings)
  return settings.problems.length === 0 ? { ok: true, config } : { ok: false, problems: settings.problems }
}

function readPublicUrl(settings: Settings, production: boolean, port: number): string {
  const text = settings.text('PUBLIC_URL')
  if (text === null) {
    if (production)
      settings.missing(
        'PUBLIC_URL',
        'give the https:// address that the provider and browsers reach, for example https://sms.example.com',
      )
    return `http://localhost:${port}`
  }
  if (!isPublicAddress(text, production ? ['https:'] : ['https:', 'http:'])) {
    settings.problem(
      'PUBLIC_URL',
      `is "${text}"`,
      `give an ${production ? 'https://' : 'http:// or https://'} address without credentials and query`,
    )
  }
  return text.replace(/\/+$/, '')
}

/**
 * URLs know hosts with `*` or `;`, which no provider reaches and which mean something else in a page's policy, and
 * spellings that become another address where a path is put behind them.
 */
function isPublicAddress(text: string, schemes: readonly string[]): boolean {
  const url = /^https?:\/\/[^\s\\/?#@]+(\/[^\s\\?#]*)?$/i.test(text) ? URL.parse(text) : null
  return url !== null && schemes.includes(url.protocol) && /^(?:[\w.-]+|\[[\da-f:.]+\])$/.test(url.hostname)
}

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
      'this release stores in a local file: use file:./data/sgw.db',
    )
  } else {
    settings.problem('DATABASE_URL', `is "${url}"`, 'give file:PATH')
  }
  return { url, authToken, path: null }
}

function readEncryptionKeys(settings: Settings, production: boolean): Uint8Array[] | null {
  const text = settings.secret('ENCRYPTION_KEYS')
  if (text === null) {
    if (production) settings.missing('ENCRYPTION_KEYS', 'make one with: sgw secret (or bun run sgw secret)')
    return null
  }
  return text.split(',').map((part, index) => {
    const key = decodeKey(part.trim())
    if (key === null)
      settings.problem(
        'ENCRYPTION_KEYS',
        `has no base64 of 32 bytes at place ${index + 1}`,
        'make one with: sgw secret (or bun run sgw secret)',
      )
    return key ?? new Uint8Array(32)
  })
}

function decodeKey(text: string): Uint8Array | null {
  try {
    const key = Uint8Array.fromBase64(text, { alphabet: /[-_]/.test(text) ? 'base64url' : 'base64' })
    return key.length === 32 && new Set(key).size > 1 ? key : null
  } catch {
    return null
  }
}

function readProvider(settings: Settings, production: boolean): ProviderConfig {
  const serverUrl = (settings.text('RC_SERVER_URL') ?? 'https://platform.ringcentral.com').replace(/\/+$/, '')
  const url = URL.parse(serverUrl)
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)))) {
    settings.problem('RC_SERVER_URL', `is "${serverUrl}"`, 'give an https:// address (http:// only to a loopback host)')
  }
  const clientId = settings.secret('RC_CLIENT_ID')
  const clientSecret = settings.secret('RC_CLIENT_SECRET')
  if (clientId === null && clientSecret === null && !production) {
    const { id, secret } = SIMULATOR_CLIENT
    return { serverUrl, clientId: id, clientSecret: secret, simulated: true, throughProxy: false }
  }
  const fix = 'copy it from your app in the RingCentral developer console'
  if (clientId === null) settings.missing('RC_CLIENT_ID', fix)
  if (clientSecret === null) settings.missing('RC_CLIENT_SECRET', fix)
  return {
    serverUrl,
    clientId: clientId ?? '',
    clientSecret: clientSecret ?? '',
    simulated: false,
    throughProxy: namesProxy(settings),
  }
}

/** For the provider's address; Bun's `fetch` reads the same. */
function namesProxy(settings: Settings): boolean {
  const name = settings.text('RC_SERVER_URL')?.match(/^http:/i) ? 'http_proxy' : 'https_proxy'
  return (settings.text(name) ?? settings.text(name.toUpperCase())) !== null
}

const isLoopbackHost = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.')

function readCidrs(settings: Settings, name: string): string[] {
  return settings.list(name).map((item) => {
    const withLength = item.includes('/') ? item : `${item}/${item.includes(':') ? 128 : 32}`
    if (!isPlainCidr(withLength))
      settings.problem(name, `holds "${item}"`, 'give addresses or ranges such as 10.0.0.0/8')
    return withLength
  })
}

/** Other spellings that parsers take (`10.0`, octal and hexadecimal parts) do not say to everybody what they mean. */
function isPlainCidr(text: string): boolean {
  const [address = '', length = ''] = text.split('/')
  if (!ipaddr.isValidCIDR(text) || !/^(0|[1-9]\d*)$/.test(length)) return false
  return address.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(address)
}

/** Browsers compare origins letter by letter: one that no browser sends would be a setting without effect. */
function readOrigins(settings: Settings): string[] {
  return settings.list('CORS_ORIGINS').map((item) => {
    const origin = item.replace(/\/$/, '')
    const isOrigin = /^https?:\/\/[^*]+$/.test(origin) && URL.parse(origin)?.origin === origin
    if (origin !== '*' && !isOrigin)
      settings.problem('CORS_ORIGINS', `holds "${item}"`, 'give origins such as https://app.example.com, or *')
    return origin
  })
}

/** Several processes over one libSQL server are not in this release: better a clear refusal than half a cluster. */
function refuseRedis(settings: Settings): void {
  if (settings.text('REDIS_URL') !== null)
    settings.problem('REDIS_URL', 'is set', 'this release runs as one process over one file: remove it')
}
