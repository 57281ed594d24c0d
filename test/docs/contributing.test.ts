import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { PROJECT } from '../support/program.ts'

const PAGE = readFileSync(join(PROJECT, 'CONTRIBUTING.md'), 'utf8')
const MAX_FILES = 9

const textOf = (path: string): string => readFileSync(join(PROJECT, path), 'utf8')

/** The files that the numbered list after these words begins its items with. */
function filesOf(heading: string): string[] {
  const list = PAGE.split(heading)[1]?.split('\n\n')[1] ?? ''
  return [...list.matchAll(/^\d+\. (?:\\\* )?`([^`]+)`/gm)].map(([, path = '']) => path)
}

test('a filter of the messages touches the files that the page lists, at most nine, and each names it', () => {
  const files = filesOf('**a filter of the messages** (such as `state`)')
  expect(files.length).toBeGreaterThan(5)
  expect(files.length).toBeLessThanOrEqual(MAX_FILES)
  expect(files.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([])
  expect(files.filter((path) => !/\bstate\b|State/.test(textOf(path)))).toEqual([])
})

test('each file that the page names is there', () => {
  const named = [...PAGE.matchAll(/`((?:src|test|docs|bench|scripts|deploy|drizzle)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([])
})

test('no other file of src knows the values of the filter that the page walks through', () => {
  const listed = filesOf('**a filter of the messages** (such as `state`)').filter((path) => path.startsWith('src/'))
  const knowing = [...new Glob('src/**/*.{ts,tsx}').scanSync(PROJECT)].filter((path) =>
    /\b(LISTED_STATES|ListedState)\b/.test(textOf(path)),
  )
  expect(knowing.toSorted()).toEqual(listed.toSorted())
})
