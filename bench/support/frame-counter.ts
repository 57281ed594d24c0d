/** Counts a server's frames in the bytes of one WebSocket (RFC 6455 5.2). Chunks may begin and end anywhere. */
export class FrameCounter {
  /** The bytes of an incomplete frame head. */
  #head: Buffer = EMPTY
  /** The number of missing bytes of the current frame. */
  #left = 0

  /** Events are text frames of at least 126 bytes. All other frames of the gateway are shorter. */
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
