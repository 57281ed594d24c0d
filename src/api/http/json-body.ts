import { setImmediate as nextTick } from 'node:timers/promises'
import { compressed, compressedParts, encodingFor } from './compression.ts'

export type JsonBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

/** A long answer that its endpoint has already written as JSON, in several ticks of the event loop. */
export class WrittenJson {
  constructor(readonly parts: readonly string[]) {}
}

/** Compressing less would save nothing: it goes out in one packet anyway. */
const MIN_COMPRESSED_BYTES = 1024

/** The body of a JSON answer to a GET, compressed if it is long and the client accepts that. Adds its headers. */
export async function compressedBody(
  request: Request,
  content: string | WrittenJson,
  headers: Record<string, string>,
): Promise<JsonBody> {
  if (typeof content === 'string' && Buffer.byteLength(content) <= MIN_COMPRESSED_BYTES) return content
  headers['vary'] = headers['vary'] === undefined ? 'Accept-Encoding' : `${headers['vary']}, Accept-Encoding`
  const encoding = encodingFor(request.headers.get('accept-encoding') ?? '')
  if (encoding === 'identity') return typeof content === 'string' ? bodyOf(content) : plainBody(content)
  headers['content-encoding'] = encoding
  if (content instanceof WrittenJson) return new Blob(await compressedParts(content.parts, encoding)).stream()
  return bodyOf(new Uint8Array(await compressed(content, encoding)))
}

export const plainBody = (content: string | WrittenJson): JsonBody =>
  typeof content === 'string' ? content : inPortions(content.parts)

/** Sends each part in a tick of its own. */
export function inPortions(parts: readonly string[]): ReadableStream<Uint8Array> {
  const left = parts.values()
  return new ReadableStream({
    async pull(controller) {
      await nextTick()
      const { value, done } = left.next()
      if (done === true) controller.close()
      else controller.enqueue(Buffer.from(value))
    },
  })
}

/**
 * If head and body exceed 16 KB, Bun 1.4.4 writes the head of an asynchronous answer in pieces, with four system calls per header. It writes
 * the head of a stream in one piece, so large answers are streams.
 */
const LARGE = 10_000

function bodyOf(content: string | Uint8Array<ArrayBuffer>): JsonBody {
  if (content.length < LARGE) return content
  return new ReadableStream({
    start(controller) {
      controller.enqueue(typeof content === 'string' ? new TextEncoder().encode(content) : content)
      controller.close()
    },
  })
}
