import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE_BYTES = 8
/** Length, name and checksum. */
const CHUNK_BYTES = 12
/** Bytes of a pixel by the color type of the header, with 8 bits of each color: the two that browsers write. */
const PIXEL_BYTES: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

/**
 * The same picture in fewer bytes, pixel for pixel, or the one that was given if it is as small. A page has large areas of one color and
 * rows that repeat, which zlib finds best in bytes that no filter has changed. Errors: it is not a PNG as a browser writes it.
 */
export function smallerPng(png: Buffer): Buffer {
  const chunks = chunksOf(png)
  const header = chunks.find(({ name }) => name === 'IHDR')?.data ?? Buffer.alloc(0)
  const pixelBytes = PIXEL_BYTES[header[9] ?? 0]
  // 8 bits of each color, and rows from top to bottom.
  if (pixelBytes === undefined || header[8] !== 8 || header[12] !== 0) throw new Error('Not a PNG of a browser')
  const rowBytes = header.readUInt32BE(0) * pixelBytes
  const filtered = inflateSync(Buffer.concat(chunks.filter(({ name }) => name === 'IDAT').map(({ data }) => data)))
  const plain = deflateSync(withoutFilters(filtered, rowBytes, pixelBytes), { level: 9, memLevel: 9 })
  const smaller = Buffer.concat([
    png.subarray(0, SIGNATURE_BYTES),
    chunk('IHDR', header),
    chunk('IDAT', plain),
    chunk('IEND', Buffer.alloc(0)),
  ])
  return smaller.length < png.length ? smaller : png
}

interface Chunk {
  name: string
  data: Buffer
}

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = []
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = png.readUInt32BE(at)
    chunks.push({ name: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + CHUNK_BYTES
  }
  return chunks
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, checksum])
}

/** The rows with the filter 0. A row begins with its filter: 0 none, 1 left, 2 above, 3 the mean of both, 4 Paeth (PNG specification, section 9). */
function withoutFilters(filtered: Buffer, rowBytes: number, pixelBytes: number): Buffer {
  const plain = Buffer.alloc(filtered.length)
  const stride = rowBytes + 1
  for (let row = 0; row < filtered.length; row += stride) {
    const filter = filtered[row] ?? 0
    for (let at = 1; at <= rowBytes; at++) {
      const left = at > pixelBytes ? (plain[row + at - pixelBytes] ?? 0) : 0
      const above = row === 0 ? 0 : (plain[row + at - stride] ?? 0)
      const corner = row === 0 || at <= pixelBytes ? 0 : (plain[row + at - stride - pixelBytes] ?? 0)
      plain[row + at] = (filtered[row + at] ?? 0) + predicted(filter, left, above, corner)
    }
  }
  return plain
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return above
  if (filter === 3) return (left + above) >> 1
  return filter === 4 ? paeth(left, above, corner) : 0
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner
  const [toLeft, toAbove, toCorner] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)]
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}
