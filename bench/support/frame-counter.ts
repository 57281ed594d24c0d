/** Counts a server's frames in the bytes of one WebSocket, however they are cut (RFC 6455 5.2; servers do not mask). */
export class FrameCounter {
  /** Bytes of a frame's head that came without the rest of it. */
  #head: Buffer = EMPTY
  /** Bytes of the current frame that are still to come. */
  #left = 0

  /** Events are text frames of 126 bytes and more: what else the gateway says, it says shorter. */
  feed(chunk: Buffer): { events: number; pings: number } {
    const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
    this.#head = EMPTY
    let [at, events, pings] = [this.#left, 0, 0]
    while (at < bytes.length) {
      const headLength = (bytes[at + 1] ?? 0) === 126 ? 4 : 2
      if (at + headLength > bytes.length) {
        this.#head = Buffer.from(bytes.subarray(at))
        break
      }
      const length = headLength === 4 ? bytes.readUInt16BE(at + 2) : (bytes[at + 1] ?? 0)
      if (headLength === 4) events++
      if (((bytes[at] ?? 0) & 0xf) === PING) pings++
      at += headLength + length
    }
    this.#left = this.#head.length > 0 ? 0 : at - bytes.length
    return { events, pings }
  }
}

const EMPTY = Buffer.alloc(0)
const PING = 0x9
