import { expect, test } from 'bun:test'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
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
