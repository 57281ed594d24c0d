import { RESPONSE_SNIPPET_BYTES } from '../core/limits.ts'

/** The beginning of a response's body, as it comes in. */
export class Snippet {
  /** Settles when no more will be read: enough bytes, the end, or the body broke. Never rejects. */
  readonly done: Promise<void>
  readonly #resolve: () => void
  readonly #chunks: Uint8Array[] = []
  #length = 0

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.done = promise
    this.#resolve = resolve
  }

  add(bytes: Uint8Array): void {
    // Copied, so that 256 bytes do not hold on to the whole chunk.
    this.#chunks.push(bytes.slice(0, RESPONSE_SNIPPET_BYTES - this.#length))
    this.#length += Math.min(bytes.length, RESPONSE_SNIPPET_BYTES - this.#length)
    if (this.#length >= RESPONSE_SNIPPET_BYTES) this.#resolve()
  }

  /** Nothing more will come. */
  end(): void {
    this.#resolve()
  }

  /** What has come so far as text: at most 256 bytes, broken UTF-8 and NUL as U+FFFD. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks)).replaceAll('\0', '\uFFFD')
  }
}
