/** Every limit of the gateway in one place, with its unit in its name. Those an operator may change are in `config.ts`. */

export const MAX_REQUEST_BODY_BYTES = 102_400
export const MAX_JSON_DEPTH = 32
export const MAX_BODY_UNITS = 1600
export const MAX_USER_ID_LENGTH = 255
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255
export const IDEMPOTENCY_RETENTION_MS = 24 * 3_600_000
export const MAX_APP_NAME_LENGTH = 100
export const MAX_WEBHOOK_URL_LENGTH = 2000
export const MAX_REQUEST_ID_LENGTH = 128
/** Apps or triggers in one list, and destinations of an inbound message in one commit: a tenant of an older release may have more. */
export const MAX_LISTED = 1000
export const MAX_DESTINATIONS_PER_COMMIT = 100

export const DEFAULT_PAGE_SIZE = 20
export const MAX_PAGE_SIZE = 100

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
/** Windows of the key limit that are remembered: forgetting one early would let its app send more than it may. */
export const MAX_LIMITED_APPS = 100_000

/** How far back the provider is asked for inbound messages at most: it keeps a month and more, a gateway that slept longer has other worries. */
export const BACK_FILL_MAX_AGE_MS = 30 * DAY_MS

/** A webhook POST, from DNS to the last byte that we read. */
export const WEBHOOK_TIMEOUT_MS = 5000
export const RESPONSE_SNIPPET_BYTES = 256
export const ERROR_MESSAGE_LENGTH = 500

/** Of the calls that may be under way at once, those that sends leave for tokens and lookups. */
export const CALLS_BESIDE_SENDS = 16
/** Attempts of one message that may end as absent; after that it counts as unconfirmable. */
export const MAX_ABSENT_ATTEMPTS = 5
/** An access token is refreshed when less than this is left of it. */
export const TOKEN_FRESH_MS = 60_000
export const DEFAULT_PENALTY_MS = 60_000
/** Lookups of one tenant's numbers begin at least this far apart. */
export const NUMBER_LOOKUP_EVERY_MS = 10_000
export const REFRESH_RETRY_FIRST_MS = 10_000
export const REFRESH_RETRY_MIN_MS = 60_000
export const REFRESH_RETRY_MAX_MS = 30 * 60_000
/** An unknown outcome holds its conversation for this long at most; then it counts as unconfirmable. */
export const MAX_RECONCILE_MS = 10 * 60_000

/** Webhook POSTs at once: 64 in their first moments, and as many slow ones beside them as the rest allows. */
export const MAX_WEBHOOKS_IN_FLIGHT = 64
export const MAX_SLOW_WEBHOOKS = 192
export const SLOW_WEBHOOK_MS = 300
export const MAX_WEBHOOKS_PER_HOST = 8
/** Half of all: destinations of one tenant that hang leave places for everybody else. */
export const MAX_WEBHOOKS_PER_TENANT = 128
export const MAX_WEBHOOKS_PER_TARGET = 4
/** Deliveries that are prefetched into memory with their messages; destinations share this evenly. */
export const MAX_PREFETCHED_WEBHOOKS = 256
export const DELIVERY_RETENTION_DAYS = 30
export const ATTEMPT_RETENTION_DAYS = 7

export const WS_TOKEN_TTL_MS = 60_000
export const WS_AUTH_DEADLINE_MS = 5000
export const WS_AUTH_FRAME_BYTES = 4096
export const WS_FRAME_BYTES = 16_384
export const WS_BACKLOG_BYTES = 1 << 20
export const WS_PING_MS = 30_000
export const WS_SILENCE_MS = 90_000
/** How long Bun 1.4.4 keeps a closed socket whose peer does not answer the close frame (measured; `terminate` has no effect by then). */
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
export const MAX_OVERVIEW_ERRORS = 10
