import type { IncomingMessage } from 'node:http'
import { RESPONSE_SNIPPET_BYTES } from '../core/limits.ts'

/** The beginning of a response's body, as it comes in. */
export interface Snippet {
  /** Settles when no more will be read: enough bytes, the end, or the body broke. Never rejects. */
  done: Promise<void>
  /** What has come so far as text: at most 256 bytes, broken UTF-8 and NUL as U+FFFD. */
  text(): string
}

/** Of a response that can have no body. */
export const NO_SNIPPET: Snippet = { done: Promise.resolve(), text: () => '' }

/** Must be called in the `response` event itself: a body that breaks at once has nobody else to hear its error. */
export function collectSnippet(message: IncomingMessage): Snippet {
  const chunks: Uint8Array[] = []
  let length = 0
  const { promise: done, resolve } = Promise.withResolvers<void>()
  message.on('data', (chunk: Uint8Array) => {
    // Copied, so that 256 bytes do not hold on to the whole chunk.
    chunks.push(chunk.slice(0, RESPONSE_SNIPPET_BYTES - length))
    length += Math.min(chunk.length, RESPONSE_SNIPPET_BYTES - length)
    if (length >= RESPONSE_SNIPPET_BYTES) resolve()
  })
  for (const event of ['end', 'close', 'error'] as const) message.on(event, () => resolve())
  return { done, text: () => new TextDecoder().decode(Buffer.concat(chunks)).replaceAll('\0', '\uFFFD') }
}
