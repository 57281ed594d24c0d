/** Makes the contract's identifiers. A simulation passes its own random source, so that its runs are repeatable. */
export interface Ids {
  /**
   * `msg_` + 12 hex. With 48 bits an id can repeat, so an insert must be able to draw another. Ids drawn at about the same time
   * (epoch milliseconds) are consecutive, so that a commit writes one page of their index instead of one page for each. For
   * null the id is random.
   */
  message(at: number | null): string
  /** `media_` + 12 hex. */
  media(): string
  /** `app_`, `tenant_`, `job_`, `trg_`, `cor_`, `att_`, `boot_` … + 16 hex. */
  of(prefix: IdPrefix): string
  /** 32 random bytes, base64url: API keys, tokens, OAuth state, PKCE verifiers. */
  secret(): string
  /** Raw random bytes. */
  bytes(length: number): Uint8Array
}

export type IdPrefix = 'app' | 'tenant' | 'job' | 'trg' | 'cor' | 'att' | 'boot' | 'sub' | 'req' | 'ses'

export type RandomSource = (length: number) => Uint8Array

const POOL_BYTES = 4096

/** Draws a few kilobytes at a time from the system's generator: one call serves hundreds of ids. */
function pooledRandom(): RandomSource {
  let pool = new Uint8Array(0)
  let used = 0
  return (length) => {
    if (used + length > pool.length) {
      pool = crypto.getRandomValues(new Uint8Array(Math.max(POOL_BYTES, length)))
      used = 0
    }
    used += length
    return pool.slice(used - length, used)
  }
}

export function createIds(random: RandomSource = pooledRandom()): Ids {
  const digits = hexDigits(random)
  return {
    message: messageIds(random),
    media: () => `media_${random(6).toHex()}`,
    of: (prefix) => `${prefix}_${digits()}`,
    secret: () => random(32).toBase64({ alphabet: 'base64url', omitPadding: true }),
    bytes: random,
  }
}

const ID_DIGITS = 16
const POOL_IDS = 64

/** Cuts 16 hex digits at a time from a longer text: converting bytes for each id would take several times as long. */
function hexDigits(random: RandomSource): () => string {
  let digits = ''
  let used = 0
  return () => {
    if (used === digits.length) {
      digits = random((POOL_IDS * ID_DIGITS) / 2).toHex()
      used = 0
    }
    used += ID_DIGITS
    return digits.slice(used - ID_DIGITS, used)
  }
}

const IDS_PER_BLOCK = 256
/** A longer block would reveal to a tenant how much others send. */
const MAX_BLOCK_AGE_MS = 4

const TWO_DIGITS = Array.from({ length: IDS_PER_BLOCK }, (_, number) => number.toString(16).padStart(2, '0'))

/** Ids of a block share five random bytes; the sixth byte counts them. */
function messageIds(random: RandomSource): Ids['message'] {
  const block = { head: '', used: IDS_PER_BLOCK, since: 0 }
  return (at) => {
    if (at === null) return `msg_${random(6).toHex()}`
    if (block.used === IDS_PER_BLOCK || Math.abs(at - block.since) >= MAX_BLOCK_AGE_MS)
      Object.assign(block, { head: `msg_${random(5).toHex()}`, used: 0, since: at })
    return block.head + (TWO_DIGITS[block.used++] ?? '')
  }
}

export const MESSAGE_ID = /^msg_[0-9a-f]{12}$/
export const APP_ID = /^app_[0-9a-f]{16}$/
export const TENANT_ID = /^tenant_[0-9a-f]{16}$/
export const TRIGGER_ID = /^trg_[0-9a-f]{16}$/
