import { RESPONSE_SNIPPET_BYTES } from '../core/limits.ts'

/** Collects the first bytes of a response's body. */
export class Snippet {
  /** Resolves when nothing more will be added: there are enough bytes, or the body has ended or failed. Never rejects. */
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
    // A copy: 256 bytes must not keep the whole packet in memory.
    this.#chunks.push(bytes.slice(0, RESPONSE_SNIPPET_BYTES - this.#length))
    this.#length += Math.min(bytes.length, RESPONSE_SNIPPET_BYTES - this.#length)
    if (this.#length >= RESPONSE_SNIPPET_BYTES) this.#resolve()
  }

  /** The body has ended or failed. */
  end(): void {
    this.#resolve()
  }

  /** At most 256 bytes as text. Invalid UTF-8 and NUL become U+FFFD. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks)).replaceAll('\0', '\uFFFD')
  }
}
