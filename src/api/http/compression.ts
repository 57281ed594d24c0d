import { setImmediate as nextTick } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'

export type Encoding = 'br' | 'gzip' | 'identity'

/** The encoding for a client that sends this `Accept-Encoding` (RFC 9110, section 12.5.3). */
export function encodingFor(accepted: string): Encoding {
  const names = accepted
    .toLowerCase()
    .split(',')
    .map((entry) => entry.trim())
  const accepts = (name: string): boolean =>
    names.some((entry) => entry === name || (entry.startsWith(`${name};`) && !/q=0(\.0+)?$/.test(entry)))
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : 'identity'
}

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const GZIP = { level: 6 }

/** Compresses an answer on a thread of the pool, not on the event loop: half a millisecond for 40 KB. */
export const compressed = (text: string, encoding: Exclude<Encoding, 'identity'>) =>
  encoding === 'br' ? brotli(text, BROTLI) : gzipped(text, GZIP)

const brotli = promisify(brotliCompress)
const gzipped = promisify(gzip)

/** The same for an answer that is too long for one tick of the event loop. */
export async function compressedParts(
  parts: readonly string[],
  encoding: Exclude<Encoding, 'identity'>,
): Promise<Buffer<ArrayBuffer>[]> {
  const stream = encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP)
  const written = stream.toArray() as Promise<Buffer<ArrayBuffer>[]>
  for (const part of parts) {
    stream.write(part)
    await nextTick()
  }
  stream.end()
  return written
}
