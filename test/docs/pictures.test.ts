import { expect, test } from 'bun:test'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { smallerPng } from '../../scripts/smaller-png.ts'
import { PHONE_PICTURES, PICTURES } from '../../scripts/screenshots.ts'
import { PROJECT } from '../support/program.ts'

const FOLDER = join(PROJECT, 'docs/pictures')
const MAX_BYTES = 150_000

const shown = ['README.md', 'docs/console.md'].flatMap((page) =>
  [...readFileSync(join(PROJECT, page), 'utf8').matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(([, text, path = '']) => ({
    text,
    path: join(PROJECT, page, '..', path),
  })),
)

test('every picture of a page exists, is taken by the script, and is said in words', () => {
  const taken = [...Object.keys(PICTURES), ...Object.keys(PHONE_PICTURES)]
  expect(new Set(shown.map(({ path }) => path))).toEqual(new Set(taken.map((name) => join(FOLDER, name))))
  expect(readdirSync(FOLDER).toSorted()).toEqual(taken.toSorted())
  for (const { text } of shown) expect(text).toMatch(/\w+ \w+/)
})

test('a picture is light, and none is in the package', () => {
  for (const name of readdirSync(FOLDER))
    expect([name, statSync(join(FOLDER, name)).size < MAX_BYTES]).toEqual([name, true])
  expect(manifest.files.filter((path) => path.startsWith('docs'))).toEqual([])
})

const [WIDTH, HEIGHT] = [400, 60]

/** A picture whose row `n` has the filter `n % 5`, and its pixels. */
function filteredPng(bytes: 3 | 4): { png: Buffer; pixels: Buffer[] } {
  const length = WIDTH * bytes
  const pixels = Array.from({ length: HEIGHT }, (_, y) =>
    Buffer.from(Array.from({ length }, (_unused, x) => ((x % 97) * (y % 3) + 40) % 256)),
  )
  const rows = pixels.map((row, y) => {
    const of = (line: number, x: number): number => (x < 0 ? 0 : (pixels[line]?.[x] ?? 0))
    const guess = [
      () => 0,
      (x: number) => of(y, x - bytes),
      (x: number) => of(y - 1, x),
      (x: number) => Math.floor((of(y, x - bytes) + of(y - 1, x)) / 2),
      (x: number) => {
        const [a, b, c] = [of(y, x - bytes), of(y - 1, x), of(y - 1, x - bytes)]
        const near = [a, b, c].map((one) => Math.abs(a + b - c - one))
        return [a, b, c][near.indexOf(Math.min(...near))] ?? 0
      },
    ][y % 5]
    return Buffer.from([y % 5, ...row.map((value, x) => value - (guess?.(x) ?? 0))])
  })
  const header = Buffer.from([0, 0, WIDTH >> 8, WIDTH & 255, 0, 0, 0, HEIGHT, 8, bytes === 3 ? 2 : 6, 0, 0, 0])
  const chunk = (name: string, data: Buffer): Buffer => {
    const out = Buffer.alloc(data.length + 12)
    out.writeUInt32BE(data.length)
    out.write(name, 4, 'latin1')
    data.copy(out, 8)
    out.writeUInt32BE(crc32(out.subarray(4, data.length + 8)), data.length + 8)
    return out
  }
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
  const data = deflateSync(Buffer.concat(rows), { level: 1 })
  // A browser writes its data in several pieces, and more about the picture.
  const pieces = [chunk('IDAT', data.subarray(0, 100)), chunk('IDAT', data.subarray(100))]
  const png = [signature, chunk('IHDR', header), chunk('tEXt', Buffer.from('a\0b')), ...pieces]
  return { png: Buffer.concat([...png, chunk('IEND', Buffer.alloc(0))]), pixels }
}

test.each([3, 4] as const)(
  'a picture with %i bytes a pixel gets smaller and stays the same pixel for pixel',
  (bytes) => {
    const { png, pixels } = filteredPng(bytes)
    const smaller = smallerPng(png)
    expect(smaller.length).toBeLessThan(png.length)
    const at = smaller.indexOf('IDAT')
    const data = smaller.subarray(at + 4, at + 4 + smaller.readUInt32BE(at - 4))
    expect(inflateSync(data)).toEqual(Buffer.concat(pixels.flatMap((row) => [Buffer.from([0]), row])))
    expect(smaller.subarray(0, 33)).toEqual(png.subarray(0, 33))
    expect(smaller.readUInt32BE(at + 4 + data.length)).toBe(crc32(smaller.subarray(at, at + 4 + data.length)))
    expect(smallerPng(smaller)).toBe(smaller)
    expect(() => smallerPng(Buffer.from('not a picture'))).toThrow()
  },
)

test('each picture is as small as the script makes it', () => {
  for (const name of readdirSync(FOLDER)) {
    const png = readFileSync(join(FOLDER, name))
    expect([name, smallerPng(png).length]).toEqual([name, png.length])
  }
})
