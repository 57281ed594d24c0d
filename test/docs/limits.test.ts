import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as limits from '../../src/core/limits.ts'
import { PROJECT } from '../support/program.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/api.md'), 'utf8').split('\n## Limits\n')[1] ?? ''
const VALUES = { ...limits }
/** Names of lengths of time, and no limits. */
const UNITS = ['HALF_HOUR_MS', 'HOUR_MS', 'DAY_MS']
const TIMES: [name: string, ms: number][] = [
  ['day', limits.DAY_MS],
  ['hour', limits.HOUR_MS],
  ['minute', 60_000],
  ['second', 1000],
]

/** The limits of each row of the page, in the order of its values. */
const ROWS: Readonly<Record<string, readonly (keyof typeof VALUES)[]>> = {
  'request body; upload': ['MAX_REQUEST_BODY_BYTES', 'MAX_MEDIA_BYTES'],
  'JSON: nesting; members in total; entries in an array': ['MAX_JSON_DEPTH', 'MAX_JSON_MEMBERS', 'MAX_BODY_ENTRIES'],
  '`X-Request-Id` that the gateway keeps': ['MAX_REQUEST_ID_LENGTH'],
  'period of `KEY_LIMIT_PER_MINUTE`': ['WINDOW_MS'],
  'wrong keys that block an IP address (IPv6: a /64); counted over; blocked for': [
    'FAILED_ATTEMPTS',
    'FAILED_ATTEMPTS_WINDOW_MS',
    'BLOCK_MS',
  ],
  'rows in a page: default; maximum': ['DEFAULT_PAGE_SIZE', 'MAX_PAGE_SIZE'],
  'events in a page: default; maximum': ['DEFAULT_EVENTS', 'MAX_EVENTS'],
  'apps, triggers or tenants in a list': ['MAX_LISTED'],
  '`/v1/usage`: default; maximum': ['DEFAULT_USAGE_DAYS', 'MAX_USAGE_DAYS'],
  '`hours` in `/v1/overview`: minimum; maximum; buckets; errors': [
    'MIN_OVERVIEW_HOURS',
    'MAX_OVERVIEW_HOURS',
    'OVERVIEW_BUCKETS',
    'MAX_OVERVIEW_ERRORS',
  ],
  '`hours` in `/v1/operator/overview`: maximum; buckets for each tenant': [
    'MAX_TENANTS_OVERVIEW_HOURS',
    'TENANTS_OVERVIEW_BUCKETS',
  ],
  'a text, in UTF-16 units; a text with files': ['MAX_BODY_UNITS', 'MAX_MEDIA_TEXT_UNITS'],
  '`userId`; the `contact` filter': ['MAX_USER_ID_LENGTH', 'MAX_CONTACT_LENGTH'],
  'contacts that `contactEndsWith` can match (if more: 400)': ['MAX_CONTACTS_FOUND'],
  '`toAnswer`: highest count; how far back': ['MAX_TO_ANSWER', 'TO_ANSWER_MS'],
  '`Idempotency-Key`; for `notify`; valid for': [
    'MAX_IDEMPOTENCY_KEY_LENGTH',
    'MAX_NOTIFY_KEY_LENGTH',
    'IDEMPOTENCY_RETENTION_MS',
  ],
  '`notify`: recipients; template': ['MAX_NOTIFY_RECIPIENTS', 'MAX_TEMPLATE_LENGTH'],
  '`sendAt`: how far ahead': ['MAX_SCHEDULE_AHEAD_MS'],
  '`error` of a message': ['ERROR_MESSAGE_LENGTH'],
  'failed messages that one request resends': ['MAX_RESENT'],
  'attempts kept for; usage kept for; different errors counted in each half hour': [
    'ATTEMPT_RETENTION_DAYS',
    'USAGE_RETENTION_DAYS',
    'MAX_ERRORS_PER_HALF_HOUR',
  ],
  'files in a message; a file name': ['MAX_MEDIA_PER_MESSAGE', 'MAX_FILE_NAME_LENGTH'],
  "a tenant's files together; disk space that uploads leave free": ['MAX_TENANT_MEDIA_BYTES', 'UPLOAD_MIN_FREE_BYTES'],
  'files kept for': ['MEDIA_RETENTION_MS'],
  'simultaneous uploads: total; per tenant': ['MAX_UPLOADS_IN_FLIGHT', 'MAX_UPLOADS_PER_TENANT'],
  'minimum upload speed: bytes; time': ['UPLOAD_STEP_BYTES', 'UPLOAD_STEP_MS'],
  'simultaneous calls to RingCentral that send files: total; per extension; longest call': [
    'MAX_MEDIA_CALLS',
    'MAX_MEDIA_CALLS_PER_EXTENSION',
    'MAX_MEDIA_CALL_MS',
  ],
  'inbound attachment: size; time to download': ['MAX_ATTACHMENT_BYTES', 'ATTACHMENT_TIMEOUT_MS'],
  'simultaneous attachment downloads (further ones wait): total; per tenant': [
    'MAX_ATTACHMENTS_IN_FLIGHT',
    'MAX_ATTACHMENTS_PER_TENANT',
  ],
  'webhook URL; time for a POST, with its DNS lookup; bytes read from the response': [
    'MAX_WEBHOOK_URL_LENGTH',
    'WEBHOOK_TIMEOUT_MS',
    'RESPONSE_SNIPPET_BYTES',
  ],
  'simultaneous POSTs: total; per tenant; per host of a tenant; per app or trigger; reserved per tenant': [
    'MAX_WEBHOOKS_IN_FLIGHT',
    'MAX_WEBHOOKS_PER_TENANT',
    'MAX_WEBHOOKS_PER_HOST',
    'MAX_WEBHOOKS_PER_DESTINATION',
    'RESERVED_WEBHOOKS_PER_TENANT',
  ],
  'simultaneous retries: the same five limits': [
    'MAX_RETRIES_IN_FLIGHT',
    'MAX_RETRIES_PER_TENANT',
    'MAX_RETRIES_PER_HOST',
    'MAX_RETRIES_PER_DESTINATION',
    'RESERVED_RETRIES_PER_TENANT',
  ],
  'longest wait before a retry': ['MAX_RETRY_DELAY_MS'],
  'deliveries that one request can recover; can dismiss by id': ['MAX_RECOVERED_DELIVERIES', 'MAX_DISMISSED_IDS'],
  'delivery log kept for': ['DELIVERY_RETENTION_DAYS'],
  'sockets per app; token valid for': ['MAX_SOCKETS_PER_APP', 'WS_TOKEN_TTL_MS'],
  'time to authenticate; unauthenticated sockets: total; per IP address': [
    'WS_AUTH_DEADLINE_MS',
    'MAX_UNAUTHENTICATED_SOCKETS',
    'MAX_UNAUTHENTICATED_SOCKETS_PER_ADDRESS',
  ],
  'frame that you send (a larger one gets 1009); frames between pings': ['WS_FRAME_BYTES', 'WS_FRAMES_PER_PING'],
  'time between pings; unanswered pings before the socket closes': ['WS_PING_MS', 'MAX_UNANSWERED_PINGS'],
  "backlog of a slow socket; of all a tenant's sockets": ['WS_BACKLOG_BYTES', 'WS_TENANT_BACKLOG_BYTES'],
  'closed socket: wait for a silent peer; sockets waiting': ['WS_LINGER_MS', 'MAX_LINGERING_SOCKETS'],
  "an extension's API calls per minute: reserved for sends; allowed for logins and sockets; of these, reserved for tokens":
    ['CALLS_KEPT_FOR_SENDS', 'AUTH_CALLS_PER_MINUTE', 'AUTH_CALLS_KEPT_FOR_TOKENS'],
  'simultaneous API calls reserved for tokens and lookups': ['CALLS_BESIDE_SENDS'],
  'pause after a 429 without `Retry-After`; shortest pause (doubles each time)': [
    'DEFAULT_PENALTY_MS',
    'MIN_ANNOUNCED_PAUSE_MS',
  ],
  'after a lost response: first lookup; last lookup; attempts before `failed`': [
    'FIRST_LOOKUP_MS',
    'MAX_LOOKUP_MS',
    'MAX_ABSENT_ATTEMPTS',
  ],
  'time between lookups of an unknown number': ['NUMBER_LOOKUP_EVERY_MS'],
  'token refresh: before expiry; first retry; second retry; longest wait': [
    'TOKEN_FRESH_MS',
    'REFRESH_RETRY_FIRST_MS',
    'REFRESH_RETRY_MIN_MS',
    'REFRESH_RETRY_MAX_MS',
  ],
  'search for missed texts: how far back; how often; how often without a subscription; simultaneous searches': [
    'BACK_FILL_MAX_AGE_MS',
    'BACK_FILL_EVERY_MS',
    'SILENT_BACK_FILL_EVERY_MS',
    'MAX_SILENT_BACK_FILLS',
  ],
  'subscriptions checked and sockets opened simultaneously': ['MAX_SUBSCRIBING'],
  "an app's name; a JWT": ['MAX_APP_NAME_LENGTH', 'MAX_JWT_LENGTH'],
  'links per tenant and hour; connect link valid for; time to log in': [
    'CONNECT_TOKENS_PER_HOUR',
    'CONNECT_TOKEN_TTL_MS',
    'OAUTH_STATE_TTL_MS',
  ],
  '`sgw console`: link valid for; session valid for; simultaneous sessions; requests per session and minute': [
    'OPERATOR_LINK_TTL_MS',
    'OPERATOR_SESSION_TTL_MS',
    'MAX_OPERATOR_SESSIONS',
    'OPERATOR_LIMIT_PER_MINUTE',
  ],
  'longest [mute](alerts.md#mute-an-alert) of an alert': ['MAX_MUTE_MS'],
  "precision of an app's `lastUsedAt`": ['LAST_USED_STEP_MS'],
  'lease of a [standby](beyond-one-machine.md): renewed every; lost after': ['RENEW_LEASE_EVERY_MS', 'LEASE_MS'],
  'pause after an internal error, such as a full disk': ['RETRY_AFTER_FAULT_MS'],
  'in memory: keys; rate windows of apps; IP addresses with wrong keys': [
    'MAX_CACHED_KEYS',
    'MAX_LIMITED_APPS',
    'MAX_WATCHED_ADDRESSES',
  ],
  'deliveries read in one step; size of an upload chunk; size of a simulated message': [
    'FAILURES_STEP_ROWS',
    'MEDIA_PIECE_BYTES',
    'MAX_SIMULATED_BODY_BYTES',
  ],
}

/** A limit as the page writes it. The name ends with its unit. */
function written(name: keyof typeof VALUES): string {
  const value = Math.round(VALUES[name])
  if (name.includes('BYTES')) return inBytes(value)
  if (name.endsWith('_MS')) return inTime(value)
  const [, unit] = /_(DAYS|HOURS)$/.exec(name) ?? []
  return `${value.toLocaleString('en-US')}${unit === undefined ? '' : ` ${unit.toLowerCase()}`}`
}

function inBytes(bytes: number): string {
  if (bytes % 2 ** 20 === 0) return `${bytes / 2 ** 20} MiB`
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes.toLocaleString('en-US')} bytes`
}

/** In the longest unit that divides it; a day is 24 hours. */
function inTime(ms: number): string {
  const isOneDay = ms === limits.DAY_MS
  const [name, size] = TIMES.find(([unit, one]) => ms % one === 0 && !(isOneDay && unit === 'day')) ?? ['ms', 1]
  return `${ms / size} ${name}${ms === size || size === 1 ? '' : 's'}`
}

test('the page has every limit, with its value', () => {
  const rows = [...PAGE.matchAll(/^\| (.+) \| (\d.*) \|$/gm)].map(([, what = '', values]) => [what, values])
  const expected = Object.entries(ROWS).map(([what, names]) => [what, names.map(written).join('; ')])
  expect(rows).toEqual(expected)
  const known = Object.keys(limits).filter((name) => !UNITS.includes(name))
  const onPage: string[] = Object.values(ROWS).flat()
  expect(onPage.toSorted()).toEqual(known.toSorted())
})
