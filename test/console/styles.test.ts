import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { PROJECT } from '../support/program.ts'

const FOLDER = join(PROJECT, 'src/console/page/style')
/** Every view has these. */
const BASE = readFileSync(join(FOLDER, 'base.css'), 'utf8')
const SHARED = ['base.css', 'print.css']

test('no class has rules of two views, because the styles of a view stay when another one is opened', () => {
  const sheets = new Map<string, string>()
  const clashes: string[] = []
  for (const sheet of new Glob('*.css').scanSync(FOLDER)) {
    if (SHARED.includes(sheet)) continue
    for (const name of bareClasses(readFileSync(join(FOLDER, sheet), 'utf8'))) {
      const other = sheets.get(name)
      if (other !== undefined && other !== sheet) clashes.push(`${name}: ${other}, ${sheet}`)
      if (new RegExp(`${RegExp.escape(name)}\\b(?!-)`).test(BASE)) clashes.push(`${name}: base.css, ${sheet}`)
      sheets.set(name, sheet)
    }
  }
  expect(sheets.size).toBeGreaterThan(100)
  expect(clashes).toEqual([])
})

/** The classes that are a selector by themselves. */
function bareClasses(css: string): string[] {
  const selectors = [...css.replaceAll(/\/\*[^]*?\*\//g, '').matchAll(/([^{}]+)\{/g)]
  return selectors
    .flatMap(([, list = '']) => list.split(/,(?![^(]*\))/))
    .flatMap((one) => /^\s*(\.[a-z-]+)\s*$/.exec(one)?.[1] ?? [])
}
