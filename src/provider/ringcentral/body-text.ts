const UTF8 = new TextDecoder()
const FIRST_BYTES = 4096

/** Collects the text of a body. Many small pieces take no more memory than one large one. */
export class BodyText {
  length = 0
  /** The only piece so far; after the second piece, a larger array with spare space. */
  #bytes: Uint8Array | null = null
  #isOwn = false

  add(piece: Uint8Array): void {
    if (this.#bytes === null) this.#bytes = piece
    else this.#append(this.#bytes, piece)
    this.length += piece.length
  }

  text(): string {
    if (this.#bytes === null) return ''
    return UTF8.decode(this.#isOwn ? this.#bytes.subarray(0, this.length) : this.#bytes)
  }

  #append(bytes: Uint8Array, piece: Uint8Array): void {
    const needed = this.length + piece.length
    if (!this.#isOwn || needed > bytes.length) {
      const larger = new Uint8Array(Math.max(FIRST_BYTES, needed * 2))
      larger.set(bytes.subarray(0, this.length))
      this.#bytes = larger
      this.#isOwn = true
    }
    this.#bytes?.set(piece, this.length)
  }
}
