import { withoutSecrets } from '../../core/network-config.ts'
import { type Environment, Settings } from '../../core/settings.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import { socketPath } from '../../db/data-folder.ts'

/** What a run of Litestream needs, from the environment. */
export interface BackupSettings {
  /** Name or path of the program. */
  program: string
  /** Path of `litestream.yml`. */
  configPath: string
  /** The location of the backup, for example `s3://BUCKET/PATH`. */
  replicaUrl: string
  /** Empty for Amazon's storage and for a folder. */
  endpoint: string
  /** Of the bucket; null if it is not set. */
  region: string | null
  /** Null: the storage's own variables decide. */
  credentials: { accessKeyId: string | null; secretAccessKey: string | null }
  /** Absolute path of the database file. */
  databasePath: string
  /** How long the storage may stay silent while a backup is fetched. */
  timeoutMs: number
  /**
   * Variables of the gateway's environment that are passed on to Litestream: those of storages and proxies, but none of the gateway's secrets.
   */
  passedOn: Record<string, string | undefined>
}

/** Reads and checks the variables of the backup. Errors: `StartError` with one line per problem, exit code 78. */
export function readBackupSettings(environment: Environment, databasePath: string): BackupSettings {
  const settings = new Settings(environment)
  const replicaUrl = settings.text('LITESTREAM_REPLICA_URL') ?? ''
  if (replicaUrl === '')
    settings.missing('LITESTREAM_REPLICA_URL', 'name the storage of the backup, for example s3://BUCKET/PATH')
  const backup: BackupSettings = {
    program: settings.text('LITESTREAM_COMMAND') ?? 'litestream',
    configPath: settings.text('LITESTREAM_CONFIG') ?? '/etc/litestream.yml',
    replicaUrl,
    endpoint: readEndpoint(settings),
    region: settings.text('LITESTREAM_REGION'),
    credentials: {
      accessKeyId: settings.secret('LITESTREAM_ACCESS_KEY_ID'),
      secretAccessKey: settings.secret('LITESTREAM_SECRET_ACCESS_KEY'),
    },
    databasePath,
    timeoutMs: settings.durationMs('LITESTREAM_TIMEOUT', '30s', 100),
    passedOn: passedOn(settings),
  }
  if (settings.problems.length > 0) throw new StartError(EXIT.badConfig, settings.problems.join('\n'))
  return backup
}

/** The environment of Litestream itself. Other settings for the same storage, such as another location, use the same environment. */
export function environmentOf(settings: BackupSettings): Record<string, string | undefined> {
  const { replicaUrl, endpoint, region, credentials, databasePath } = settings
  return {
    ...settings.passedOn,
    LITESTREAM_REPLICA_URL: replicaUrl,
    LITESTREAM_ENDPOINT: endpoint,
    LITESTREAM_REGION: region ?? '',
    LITESTREAM_ACCESS_KEY_ID: credentials.accessKeyId ?? undefined,
    LITESTREAM_SECRET_ACCESS_KEY: credentials.secretAccessKey ?? undefined,
    LITESTREAM_DATABASE: databasePath,
    LITESTREAM_SOCKET: controlSocketPath(databasePath),
  }
}

/** Where Litestream answers questions about a database that it replicates. */
export const controlSocketPath = (databasePath: string): string => socketPath(databasePath, '.litestream.sock')

/** The location for messages, without secrets. */
export const describeReplica = ({ replicaUrl, endpoint }: BackupSettings): string =>
  withoutSecrets(replicaUrl) + (endpoint === '' ? '' : ` (${withoutSecrets(endpoint)})`)

/**
 * A warning about settings that fail when the storage is unreachable; null without one. Without a region, Litestream asks Amazon for it at
 * every start, and ends if it gets no answer.
 */
export function regionWarning({ replicaUrl, endpoint, region }: BackupSettings): string | null {
  if (!replicaUrl.startsWith('s3://') || endpoint !== '' || region !== null) return null
  return "LITESTREAM_REGION is not set: Litestream asks Amazon for the bucket's region and fails while Amazon cannot be reached; set LITESTREAM_REGION to that region, for example eu-central-1"
}

/** Litestream retries an address without a scheme for minutes before it says anything. */
function readEndpoint(settings: Settings): string {
  const endpoint = settings.text('LITESTREAM_ENDPOINT') ?? ''
  if (endpoint !== '' && !(/^https?:\/\//i.test(endpoint) && URL.canParse(endpoint)))
    settings.problem('LITESTREAM_ENDPOINT', `is "${endpoint}"`, 'give a complete address, for example https://HOST')
  return endpoint
}

/** Variables of Litestream, of the storages that it knows, and of a network behind a proxy. */
const PASSED_ON =
  /^(LITESTREAM|AWS|AZURE|GOOGLE|GCE|OSS|SSL_CERT)_|^(PATH|HOME|USER|TMPDIR|TZ)$|^(HTTP|HTTPS|ALL|NO)_PROXY$/i

/** With it Litestream 0.5 refuses to start: `cannot load aws config: unable to add custom RootCAs`. */
const NOT_PASSED_ON = 'AWS_CA_BUNDLE'

/** A warning if Litestream probably does not know the authority that signed the storage's certificate; null without one. */
export const authorityWarning = ({ values }: Environment): string | null =>
  (values[NOT_PASSED_ON] ?? '') === '' || (values['SSL_CERT_FILE'] ?? '') !== ''
    ? null
    : 'AWS_CA_BUNDLE is not passed on, because Litestream refuses to start with it: name the file in SSL_CERT_FILE as well'

/** The gateway's own secrets are none of Litestream's business: anyone who can read its environment would have them. */
const passedOn = (settings: Settings): Environment['values'] =>
  Object.fromEntries(
    Object.keys(settings.environment.values)
      .filter((name) => PASSED_ON.test(name) && name !== NOT_PASSED_ON)
      .map((name) => [name, settings.text(name) ?? undefined]),
  )
