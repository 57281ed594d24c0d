import { expect, test } from 'bun:test'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createProgram } from '../../src/cli/program.ts'
import { PROJECT } from '../support/program.ts'

const PAGES = [
  'README.md',
  ...readdirSync(join(PROJECT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** The lines that a reader would type: those of shell blocks and of `code`. */
function commandsOf(text: string): string[] {
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.split('\n'))
  const words = [...text.matchAll(/`((?:bun run )?sgw(?:ctl)? [^`]+)`/g)].map(([, code = '']) => code)
  return [...blocks, ...words].flatMap((line) => /^(?:.*\s)?sgw(?:ctl)? ([a-z][a-z_ -]*)/.exec(line)?.[1] ?? [])
}

test('every command of the manual exists', () => {
  const program = createProgram(
    () => {
      throw new Error('not needed')
    },
    () => Promise.resolve(),
  )
  const unknown = PAGES.flatMap((page) =>
    commandsOf(readFileSync(join(PROJECT, page), 'utf8')).flatMap((line) => {
      const [first = '', second = ''] = line.trim().split(' ')
      const command = program.commands.find((candidate) => candidate.name() === first)
      const found =
        command !== undefined &&
        (command.commands.length === 0 || second === '' || command.commands.some((child) => child.name() === second))
      return found ? [] : [`${page}: sgw ${line}`]
    }),
  )
  expect(unknown).toEqual([])
})

test('every file that the manual links to exists', () => {
  const missing = PAGES.flatMap((page) => {
    const text = readFileSync(join(PROJECT, page), 'utf8')
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link)
    return links.filter((link) => !existsSync(join(PROJECT, page, '..', link))).map((link) => `${page}: ${link}`)
  })
  expect(missing).toEqual([])
})

test('no page says a section twice', () => {
  const repeated = PAGES.flatMap((page) => {
    const headings: string[] = readFileSync(join(PROJECT, page), 'utf8').match(/^## .*/gm) ?? []
    return headings.filter((heading, at) => headings.indexOf(heading) < at).map((heading) => `${page}: ${heading}`)
  })
  expect(repeated).toEqual([])
})

test('no page sends its reader into the source: a path of it is only ever part of a command', () => {
  const pointers = PAGES.flatMap((page) =>
    [...readFileSync(join(PROJECT, page), 'utf8').matchAll(/(?<!bun(?:@[\d.]+)? |sgw\/)\bsrc\/\S+/g)].map(
      ([path]) => `${page}: ${path}`,
    ),
  )
  expect(pointers).toEqual([])
})

test('the manual describes every variable that the program reads', () => {
  const manual = readFileSync(join(PROJECT, 'docs/configure.md'), 'utf8')
  const source = ['config', 'encryption-config', 'network-config', 'provider-config']
    .map((name) => readFileSync(join(PROJECT, `src/core/${name}.ts`), 'utf8'))
    .join('\n')
  const read = [...source.matchAll(/'([A-Z][A-Z0-9_]{3,})'/g)].map(([, name = '']) => name)
  expect(read.filter((name) => !manual.includes(`\`${name}\``))).toEqual([])
})

test('configure.md and .env.example name only variables that the program or its deployment reads', () => {
  const sources = [
    ...['config', 'durability-config', 'encryption-config', 'network-config', 'provider-config', 'similar-names'].map(
      (name) => `src/core/${name}.ts`,
    ),
    'src/operator/backup/settings.ts',
    'compose.yaml',
  ]
  const source = sources.map((path) => readFileSync(join(PROJECT, path), 'utf8')).join('\n')
  const rows = readFileSync(join(PROJECT, 'docs/configure.md'), 'utf8').match(/^\| `[^|]+/gm) ?? []
  const inManual = rows.flatMap((row) => [...row.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name))
  const example = readFileSync(join(PROJECT, '.env.example'), 'utf8')
  const inExample = [...example.matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name)
  expect(inManual).toContain('PUBLIC_URL')
  expect(inManual.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))).toEqual([])
  expect(inExample.filter((name) => !inManual.includes(name))).toEqual([])
})
