/** All limits of the gateway, with their units in their names. `config.ts` has the limits that an operator may change. */

export const MAX_REQUEST_BODY_BYTES = 102_400
/** Of a simulated message: attachments as base64. */
export const MAX_SIMULATED_BODY_BYTES = 16 * 1024 * 1024
export const MAX_JSON_DEPTH = 32
/** For all objects of a body together. */
export const MAX_JSON_MEMBERS = 4000
/** Entries of an array in a body. */
export const MAX_BODY_ENTRIES = 100
export const MAX_BODY_UNITS = 1600
export const MAX_USER_ID_LENGTH = 255
/** For a filter: a number, a short code or a sender's name. */
export const MAX_CONTACT_LENGTH = 64
/** How many contacts a list finds by their last digits. */
export const MAX_CONTACTS_FOUND = 100
/** Counting of conversations that wait for an answer stops here; after a week a conversation no longer counts. */
export const MAX_TO_ANSWER = 1000
export const TO_ANSWER_MS = 7 * 24 * 3_600_000
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255
/** For a request to several recipients: each recipient is added to the key. */
export const MAX_NOTIFY_KEY_LENGTH = 239
export const MAX_NOTIFY_RECIPIENTS = 10
export const MAX_TEMPLATE_LENGTH = 2000
export const IDEMPOTENCY_RETENTION_MS = 24 * 3_600_000
/** RingCentral's have about 700 characters. */
export const MAX_JWT_LENGTH = 8192
export const MAX_APP_NAME_LENGTH = 100
export const MAX_WEBHOOK_URL_LENGTH = 2000
export const MAX_REQUEST_ID_LENGTH = 128
/** Apps, triggers or tenants in one list. A tenant of an older release may have more apps. */
export const MAX_LISTED = 1000

export const DEFAULT_PAGE_SIZE = 20
export const MAX_PAGE_SIZE = 100
export const DEFAULT_EVENTS = 100
export const MAX_EVENTS = 1000

export const WINDOW_MS = 60_000
export const FAILED_ATTEMPTS = 10
export const FAILED_ATTEMPTS_WINDOW_MS = 5 * 60_000
export const BLOCK_MS = 15 * 60_000
export const MAX_WATCHED_ADDRESSES = 100_000
export const CONNECT_TOKENS_PER_HOUR = 100
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

export const CONNECT_TOKEN_TTL_MS = 5 * 60_000
export const OAUTH_STATE_TTL_MS = 10 * 60_000
export const LAST_USED_STEP_MS = 60_000
export const MAX_CACHED_KEYS = 10_000
/** Apps whose key-limit window is kept in memory: an app whose window is dropped early could exceed its limit. */
export const MAX_LIMITED_APPS = 100_000

export const OPERATOR_LINK_TTL_MS = 10 * 60_000
export const OPERATOR_SESSION_TTL_MS = 12 * HOUR_MS
/** How far ahead the end of a mute may be. */
export const MAX_MUTE_MS = 30 * DAY_MS
/** Live operator sessions: one more ends the oldest. */
export const MAX_OPERATOR_SESSIONS = 20
/** Requests of one operator's session. */
export const OPERATOR_LIMIT_PER_MINUTE = 600

/** The furthest that a back-fill reads back. The provider keeps messages for a month and more. */
export const BACK_FILL_MAX_AGE_MS = 30 * DAY_MS
/** How often the provider's store is read for new messages of an extension. */
export const BACK_FILL_EVERY_MS = 15 * 60_000
/** The same for an extension without a live subscription. */
export const SILENT_BACK_FILL_EVERY_MS = 60_000
/** Concurrent reads: they use connections that are reserved for tokens and lookups. */
export const MAX_SILENT_BACK_FILLS = 4
/** Subscriptions checked at once, and event sockets opened at once: after an outage all extensions need them together. */
export const MAX_SUBSCRIBING = 8

/** For a complete webhook POST, from DNS to the last byte that the gateway reads. */
export const WEBHOOK_TIMEOUT_MS = 5000
export const RESPONSE_SNIPPET_BYTES = 256
export const ERROR_MESSAGE_LENGTH = 500

/** Concurrent provider calls that are reserved for tokens and lookups; sends use the others. */
export const CALLS_BESIDE_SENDS = 16
/** A call with media may take a minute and a half, and holds its files in memory: 1.5 MB, twice until they are sent. */
export const MAX_MEDIA_CALLS = 16
/** Leaves calls to the others if an extension is slow. More than 40 a minute need, if each takes six seconds. */
export const MAX_MEDIA_CALLS_PER_EXTENSION = 4
/** The longest time limit of a call with media, unless the limit of all calls is longer. */
export const MAX_MEDIA_CALL_MS = 90_000
/** The first lookup after an unknown outcome. */
export const FIRST_LOOKUP_MS = 2000
/** After this many absent attempts, a message counts as unconfirmable. */
export const MAX_ABSENT_ATTEMPTS = 5
/** An access token is refreshed when it expires within this time. */
export const TOKEN_FRESH_MS = 60_000
/** Calls a minute of an extension that attachments leave unused, or a quarter of a lower limit. */
export const CALLS_KEPT_FOR_SENDS = 10
/** Per extension and client: refreshes, JWTs and tickets of event sockets (RingCentral: the group Auth). */
export const AUTH_CALLS_PER_MINUTE = 5
/** Calls that tickets leave to tokens. */
export const AUTH_CALLS_KEPT_FOR_TOKENS = 2
/** The pause after a 429 of the provider without `Retry-After`. */
export const DEFAULT_PENALTY_MS = 60_000
/** A shorter announced pause is replaced by 1 s, doubling to a minute. */
export const MIN_ANNOUNCED_PAUSE_MS = 1000
/** Lookups of one tenant's numbers begin at least this far apart. */
export const NUMBER_LOOKUP_EVERY_MS = 10_000
export const REFRESH_RETRY_FIRST_MS = 10_000
export const REFRESH_RETRY_MIN_MS = 60_000
export const REFRESH_RETRY_MAX_MS = 30 * 60_000
/**
 * An attempt with an unknown outcome is looked up for about this long at most, counted again after a restart. Then its message ends as
 * unconfirmed.
 */
export const MAX_LOOKUP_MS = 10 * 60_000

/** A standby takes a lease that has not been renewed for this long. After its last renewal, the holder makes calls for no longer than this. */
export const LEASE_MS = 5000
export const RENEW_LEASE_EVERY_MS = 1000

/** How long the gateway's work waits after an internal failure, such as a full disk, before it is retried. */
export const RETRY_AFTER_FAULT_MS = 1000

/** Concurrent webhook POSTs. */
export const MAX_WEBHOOKS_IN_FLIGHT = 256
/** Half of all, so that one tenant's hanging destinations leave slots for the others. */
export const MAX_WEBHOOKS_PER_TENANT = 128
/** A tenant with fewer POSTs in progress than this may start another one even if all slots are taken. */
export const RESERVED_WEBHOOKS_PER_TENANT = 4
/** Per tenant: many tenants use the same host, and none may delay the others. */
export const MAX_WEBHOOKS_PER_HOST = 8
export const MAX_WEBHOOKS_PER_DESTINATION = 4
/** Retries have separate limits, so that they never delay first attempts. */
export const MAX_RETRIES_IN_FLIGHT = 64
export const MAX_RETRIES_PER_TENANT = 32
export const RESERVED_RETRIES_PER_TENANT = 1
export const MAX_RETRIES_PER_HOST = 4
export const MAX_RETRIES_PER_DESTINATION = 2
/** No retry waits longer: the last step of a schedule with its jitter. `Retry-After` counts up to a day. */
export const MAX_RETRY_DELAY_MS = 1.1 * DAY_MS
/** How many deliveries one request recovers, and how many rows of the log it reads in one step. */
export const MAX_RECOVERED_DELIVERIES = 10_000
/** Failed deliveries in one commit. */
export const FAILURES_STEP_ROWS = 300
export const MAX_DISMISSED_IDS = 1000
/** Failed messages that one request sends again. */
export const MAX_RESENT = 10_000
export const DELIVERY_RETENTION_DAYS = 30
export const ATTEMPT_RETENTION_DAYS = 7

/** The largest attachment that the gateway passes on, and the longest time for it. */
export const MAX_ATTACHMENT_BYTES = 5 * 1024 * 1024
export const ATTACHMENT_TIMEOUT_MS = 60_000
/** Attachments passed on at once. Each may take its size in memory. */
export const MAX_ATTACHMENTS_IN_FLIGHT = 16
export const MAX_ATTACHMENTS_PER_TENANT = 4

/** For one file to send, and for all files of a message together (RingCentral). */
export const MAX_MEDIA_BYTES = 1_500_000
export const MAX_MEDIA_PER_MESSAGE = 10
/** For the text of a message with media (RingCentral). */
export const MAX_MEDIA_TEXT_UNITS = 1000
export const MAX_FILE_NAME_LENGTH = 255
export const MAX_TENANT_MEDIA_BYTES = 200_000_000
/** With less free disk space, uploads are refused: messages need it. */
export const UPLOAD_MIN_FREE_BYTES = 500_000_000
export const MEDIA_RETENTION_MS = 24 * HOUR_MS
/** Bytes of an upload in one commit. */
export const MEDIA_PIECE_BYTES = 65_536
/**
 * Uploads being read or stored, in all and per tenant: slow ones leave some for others. Each may take 1.3 MB of memory while it is read (Bun
 * 1.4.4, measured).
 */
export const MAX_UPLOADS_IN_FLIGHT = 80
export const MAX_UPLOADS_PER_TENANT = 64
/** A body must bring this many bytes in each period. */
export const UPLOAD_STEP_BYTES = 100_000
export const UPLOAD_STEP_MS = 10_000

export const WS_TOKEN_TTL_MS = 60_000
export const WS_AUTH_DEADLINE_MS = 5000
export const WS_FRAME_BYTES = 16_384
/** Bytes that wait for a socket that does not read, and for all sockets of a tenant together. */
export const WS_BACKLOG_BYTES = 256 * 1024
export const WS_TENANT_BACKLOG_BYTES = 16 * 1024 * 1024
/** Frames from a client between two pings. It needs one to authenticate, and one pong. */
export const WS_FRAMES_PER_PING = 600
export const WS_PING_MS = 30_000
/** A socket that has not answered this many pings is closed at the next one. */
export const MAX_UNANSWERED_PINGS = 3
/** How long Bun 1.4.4 keeps a closed socket whose peer does not answer the close frame (measured; `terminate` has no effect then). */
export const WS_LINGER_MS = 16_000
export const MAX_LINGERING_SOCKETS = 1000
export const MAX_UNAUTHENTICATED_SOCKETS = 1000
export const MAX_UNAUTHENTICATED_SOCKETS_PER_ADDRESS = 20
export const MAX_SOCKETS_PER_APP = 200

/** How far ahead a message may be scheduled. */
export const MAX_SCHEDULE_AHEAD_MS = 30 * DAY_MS

/** The roll-up of usage and overview. */
export const HALF_HOUR_MS = 30 * 60_000
export const MAX_ERRORS_PER_HALF_HOUR = 50
export const USAGE_RETENTION_DAYS = 731
export const DEFAULT_USAGE_DAYS = 30
export const MAX_USAGE_DAYS = 92
export const MIN_OVERVIEW_HOURS = 24
export const MAX_OVERVIEW_HOURS = 2160
export const OVERVIEW_BUCKETS = 48
/** The same for all tenants. A bucket is two of a tenant's own overview. */
export const MAX_TENANTS_OVERVIEW_HOURS = 720
export const TENANTS_OVERVIEW_BUCKETS = 24
export const MAX_OVERVIEW_ERRORS = 10
