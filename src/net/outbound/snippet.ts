import { RESPONSE_SNIPPET_BYTES } from '../../core/limits.ts'

/** Collects the first bytes of a response's body. */
export class Snippet {
  /** Resolves when the snippet is complete: it has enough bytes, or the body has ended or failed. Never rejects. */
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
    // A copy, so that 256 bytes do not keep a packet in memory.
    this.#chunks.push(bytes.slice(0, RESPONSE_SNIPPET_BYTES - this.#length))
    this.#length += Math.min(bytes.length, RESPONSE_SNIPPET_BYTES - this.#length)
    if (this.#length >= RESPONSE_SNIPPET_BYTES) this.#resolve()
  }

  /** Call when the body has ended or failed. */
  end(): void {
    this.#resolve()
  }

  /** At most 256 bytes as text. Invalid UTF-8 and NUL become U+FFFD. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks)).replaceAll('\0', '\uFFFD')
  }
}
