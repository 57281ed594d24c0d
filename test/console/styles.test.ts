import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { HEIGHTS } from '../../src/console/page/list/window.ts'
import { PROJECT } from '../support/program.ts'

const PAGE = join(PROJECT, 'src/console/page')
const SHEETS = [...new Glob('**/*.css').scanSync(PAGE)].map((path) => path.replaceAll('\\', '/')).toSorted()
const TOKENS = 'style/tokens.css'
const LAYERS = ['base', 'parts', 'views', 'print']
const MAX_LINES = 250
const MAX_LINES_OF_ALL = 3000
/** How many tokens of a kind there are at most, and how many values these have on all screens together. */
const MAX_TOKENS = { t: 8, s: 10, r: 4, h: 8, l: 6 } as const

const textOf = (sheet: string): string => readFileSync(join(PAGE, sheet), 'utf8').replaceAll(/\/\*[^]*?\*\//g, '')

interface Rule {
  selector: string
  /** The rules and at-rules around it, from the outside. */
  around: readonly string[]
  declarations: readonly [property: string, value: string][]
}

/** All rules of a sheet, nested ones too. */
function rulesOf(css: string): Rule[] {
  const rules: Rule[] = []
  const open: { selector: string; declarations: [string, string][] }[] = []
  for (const [, text = '', end] of css.matchAll(/([^{};]*)([{};])/g)) {
    if (end === '{') open.push({ selector: text.trim(), declarations: [] })
    else {
      const [, property = '', value = ''] = /^\s*([\w-]+):\s*([^]*\S)\s*$/.exec(text) ?? []
      if (property !== '') open.at(-1)?.declarations.push([property, value])
    }
    const closed = end === '}' ? open.pop() : undefined
    if (closed) rules.push({ ...closed, around: open.map(({ selector }) => selector) })
  }
  return rules
}

const tokens = rulesOf(textOf(TOKENS)).flatMap(({ declarations, around }) =>
  declarations.flatMap(([name, value]) =>
    name.startsWith('--')
      ? [{ name, value, screen: around.find((selector) => selector.startsWith('@media')) ?? '' }]
      : [],
  ),
)

test('no class has rules of two views, because the styles of a view stay when another one is opened', () => {
  const sheets = new Map<string, string>()
  const clashes: string[] = []
  for (const sheet of SHEETS.filter((path) => path !== TOKENS && path !== 'list/print.css'))
    for (const name of bareClasses(sheet)) {
      const other = sheets.get(name)
      if (other !== undefined && other !== sheet) clashes.push(`${name}: ${other}, ${sheet}`)
      sheets.set(name, sheet)
    }
  expect(sheets.size).toBeGreaterThan(100)
  expect(clashes).toEqual([])
})

/** The classes that are a selector by themselves, whatever the screen is. */
const bareClasses = (sheet: string): string[] =>
  rulesOf(textOf(sheet))
    .filter(({ around }) => around.every((selector) => selector.startsWith('@')))
    .flatMap(({ selector }) => selector.replace(/^:is\(([^()]*)\)$/, '$1').split(/,(?![^(]*\))/))
    .flatMap((one) => /^\s*(\.[a-z-]+)\s*$/.exec(one)?.[1] ?? [])

for (const sheet of SHEETS.filter((path) => path !== TOKENS)) {
  test(`${sheet} takes the sizes of texts, spaces, heights and radii from the tokens`, () => {
    const own = rulesOf(textOf(sheet)).flatMap(({ selector, declarations }) =>
      declarations
        .filter(([property, value]) => SCALED.test(property) && OWN_SIZE.test(value))
        .map(([property, value]) => `${selector} { ${property}: ${value} }`),
    )
    expect(own).toEqual([])
  })

  test(`${sheet} is short, in layers, and beside what it belongs to`, () => {
    expect(readFileSync(join(PAGE, sheet), 'utf8').split('\n').length - 1).toBeLessThanOrEqual(MAX_LINES)
    const outer = rulesOf(textOf(sheet)).flatMap(({ selector, around }) => (around.length === 0 ? [selector] : []))
    expect(outer.filter((selector) => !LAYERS.includes(selector.replace('@layer ', '')))).toEqual([])
    const modules = [...new Glob('**/*.tsx').scanSync(PAGE)].filter((path) =>
      readFileSync(join(PAGE, path), 'utf8').includes(`${sheet.replace(/^.*\//, '/')}'`),
    )
    const places = new Set(modules.map((path) => dirname(path)))
    if (dirname(sheet) === 'style') expect(places.has('.') || places.size > 1).toBe(true)
    else expect([...places]).toContain(dirname(sheet).replace('frame', '.'))
  })
}

const SCALED =
  /^(font|font-size|line-height|(padding|margin)(-.*)?|(row-|column-)?gap|border(-.*)?-radius|(min-)?height)$/
/** A size in a unit of its own. A hairline is one pixel wide. */
const OWN_SIZE = /(?<![\w.-])(?!1px)\d*\.?\d+(px|r?em|ex|ch|lh|pt)\b/

test('all sheets together are short', () => {
  const lines = SHEETS.map((sheet) => readFileSync(join(PAGE, sheet), 'utf8').split('\n').length - 1)
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MAX_LINES_OF_ALL)
})

test('there are few sizes of texts, spaces, radii and heights', () => {
  for (const [kind, most] of Object.entries(MAX_TOKENS)) {
    const ofKind = tokens.filter(({ name }) => KINDS[kind as keyof typeof MAX_TOKENS].test(name))
    const names = new Set(ofKind.map(({ name }) => name)).size
    expect(names).toBeGreaterThan(2)
    expect(names).toBeLessThanOrEqual(most)
    // The heights of a phone are others.
    if (kind !== 'h') expect(new Set(ofKind.map(({ value }) => value)).size).toBeLessThanOrEqual(most)
  }
})

const KINDS = { t: /^--t-/, s: /^--(s\d+|gutter|page)$/, r: /^--r(-|$)/, h: /^--h-/, l: /^--l-/ } as const

test('each variable that a sheet uses is a token or its own, and each token is used', () => {
  const css = SHEETS.map(textOf).join('\n')
  const declared = new Set(css.matchAll(/(?<![\w-])(--[\w-]+):/g).map(([, name = '']) => name))
  const used = new Set(css.matchAll(/var\((--[\w-]+)/g).map(([, name = '']) => name))
  expect([...used].filter((name) => !declared.has(name))).toEqual([])
  expect([...declared].filter((name) => !used.has(name))).toEqual([])
})

test('rows are as high as the list reckons, on a phone and elsewhere', () => {
  const heightOn = (screen: string, name: string): number =>
    Number.parseInt(tokens.find((token) => token.screen === screen && token.name === name)?.value ?? '', 10)
  for (const [screen, heights] of [['', HEIGHTS.wide] as const, ['@media (width < 700px)', HEIGHTS.phone] as const]) {
    expect(heightOn(screen, '--h-row')).toBe(heights.row)
    expect(heightOn(screen, '--h-row')).toBe(heights.gap)
    expect(heightOn(screen, '--h-control')).toBe(heights.day)
  }
})
