import { expect, test } from 'bun:test'
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PROJECT } from '../support/program.ts'

const isPage = (name: string): boolean => name.endsWith('.md')
const PAGES = [
  ...readdirSync(PROJECT).filter(isPage),
  ...readdirSync(join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(isPage)
    .map((name) => join('docs', name)),
]

/** The page without code, which can contain what looks like a heading or a link. */
const proseOf = (page: string): string =>
  readFileSync(join(PROJECT, page), 'utf8')
    .replace(/^```[^]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ''))

/** As GitHub makes them: lower case, spaces as hyphens, without punctuation; a repeated one gets a number. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of proseOf(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .trim()
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

test('every link to a heading of a page leads to one', () => {
  const missing = PAGES.flatMap((page) =>
    [...proseOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].flatMap(([, file = '', anchor = '']) => {
      const target = file === '' ? page : join(dirname(page), file)
      return !isPage(target) || anchorsOf(target).has(anchor) ? [] : [`${page}: ${file}#${anchor}`]
    }),
  )
  expect(missing).toEqual([])
})

test('every page of the manual can be reached from the README', () => {
  const linked = (page: string): string[] =>
    [...proseOf(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, file = '']) => join(dirname(page), file))
  const reached = new Set(['README.md'])
  for (const page of reached) if (PAGES.includes(page)) for (const next of linked(page)) reached.add(next)
  const manual = PAGES.filter((page) => dirname(page) === 'docs')
  expect(manual.filter((page) => !reached.has(page))).toEqual([])
})
