import { MAX_MEDIA_CALL_MS } from './limits.ts'

const BYTES_PER_SECOND = 20_000

/** How much longer a call with this many bytes may take than a text's. `timeoutMs`: the limit of a text's call. */
export const uploadMs = (timeoutMs: number, bytes: number): number =>
  Math.max(0, Math.min(1000 * Math.ceil(bytes / BYTES_PER_SECOND), MAX_MEDIA_CALL_MS - timeoutMs))
