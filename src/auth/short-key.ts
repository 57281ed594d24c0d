import type { Log } from '../core/log.ts'

/** `sgw_` and 32 random bytes, base64url. */
const KEY_LENGTH = 47

/**
 * Logs, even in production, that a refused key is only part of one: lists show how a key begins, and people mistake that for the key. The
 * caller counts each wrong key, so an address gets ten such lines and is then blocked.
 */
export function noteShortKey({ log }: { log: Log }, key: string, requestId?: string): void {
  if (key.length >= KEY_LENGTH) return
  const what = `it has ${key.length} of ${KEY_LENGTH} characters`
  const fix = 'send the whole key; if nobody has it, sgw app rotate-key APP makes a new one'
  log.warn(
    { requestId },
    `a key is refused because it is incomplete: ${what} (lists show only how a key begins); ${fix}`,
  )
}
