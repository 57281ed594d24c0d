import { editDistance } from './edit-distance.ts'

/** Variables of the entry point, Litestream, Compose, Bun and Node.js, and system variables that resemble one of sgw. */
export const ALSO_KNOWN = [
  'LITESTREAM_ENDPOINT',
  'LITESTREAM_REGION',
  'LITESTREAM_ACCESS_KEY_ID',
  'LITESTREAM_ACCESS_KEY_ID_FILE',
  'LITESTREAM_SECRET_ACCESS_KEY',
  'LITESTREAM_SECRET_ACCESS_KEY_FILE',
  'LITESTREAM_CONFIG',
  'LITESTREAM_COMMAND',
  'LITESTREAM_TIMEOUT',
  'LITESTREAM_DATABASE',
  'SGW_HOST',
  'SGW_BACKUPS',
  'SGW_UPSTREAM',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'FTP_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'ftp_proxy',
  'all_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'HOSTNAME',
  'HOSTTYPE',
]

/** The names in RingCentral's quick starts and SDK documentation. */
const RINGCENTRAL_NAMES: Readonly<Record<string, string>> = {
  RC_APP_CLIENT_ID: 'RC_CLIENT_ID',
  RC_APP_CLIENT_SECRET: 'RC_CLIENT_SECRET',
  RC_USER_JWT: 'RC_JWT',
  RINGCENTRAL_CLIENT_ID: 'RC_CLIENT_ID',
  RINGCENTRAL_CLIENT_SECRET: 'RC_CLIENT_SECRET',
  RINGCENTRAL_SERVER_URL: 'RC_SERVER_URL',
  RINGCENTRAL_JWT: 'RC_JWT',
  RINGCENTRAL_JWT_TOKEN: 'RC_JWT',
}

/** Warnings about unknown variables that are RingCentral's name for a known one, or resemble one. */
export function similarNames(set: readonly string[], known: ReadonlyMap<string, unknown>): string[] {
  const all = new Set([...known.keys(), ...ALSO_KNOWN])
  return set
    .filter((name) => !all.has(name))
    .flatMap((name) => {
      const meant = RINGCENTRAL_NAMES[name] ?? [...all].find((candidate) => resembles(name, candidate))
      return meant === undefined ? [] : [`${name} is not a variable of sgw: did you mean ${meant}?`]
    })
    .toSorted()
}

function resembles(name: string, known: string): boolean {
  const bare = name.toUpperCase().replace(/^SGW_/, '')
  // FROM_LIMIT resembles FROM_LIMIT_PER_MINUTE. A single word is not enough.
  if (bare.includes('_') && known.startsWith(`${bare}_`)) return true
  const allowed = allowedDistance(known)
  return Math.abs(bare.length - known.length) <= allowed && editDistance(bare, known) <= allowed
}

/** Short names resemble many others, so with up to four letters only the case may differ. */
function allowedDistance({ length }: string): number {
  if (length <= 4) return 0
  if (length <= 8) return 1
  return length <= 13 ? 2 : 3
}
