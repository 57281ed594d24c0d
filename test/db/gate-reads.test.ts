import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { readFileSync } from 'node:fs'

// Only a commit of the writer waits until it is stored where it must be. So after the migrations nothing writes through the gate.

/** The migrations, and files below the writer. */
const BELOW = [
  'src/db/checked-gate.ts',
  'src/db/gate.ts',
  'src/db/migrate.ts',
  'src/db/writer.ts',
  'src/db/replicated-gate.ts',
]
const CALL = /(?<!writer|orm)\b(?:gate|database\.gate)\.(?:execute|values|batch)\(([^;]*?)\)(?:\)|\n|;|\.)/g
const WRITE = /\b(INSERT INTO|INSERT OR|UPDATE \w+|DELETE FROM|REPLACE INTO)\b/

/** The texts of the constants that a call names, and its own text. */
function statementsOf(call: string, source: string): string {
  const names = call.match(/\b[A-Z][A-Z_]+\b/g) ?? []
  const constants = names.map((name) => new RegExp(`const ${name}\\b[^=]*=([^]*?)(?:\\n\\n|$)`).exec(source)?.[1] ?? '')
  return [call, ...constants].join('\n')
}

function writesIn(path: string): string[] {
  const source = readFileSync(path, 'utf8')
  return [...source.matchAll(CALL)]
    .map(([, call = '']) => statementsOf(call, source))
    .filter((sql) => WRITE.test(sql))
    .map((sql) => `${path}: ${sql.slice(0, 80)}`)
}

test('outside of migrations nothing writes through the gate', () => {
  const paths = [...new Glob('src/**/*.ts').scanSync('.')].filter((path) => !BELOW.includes(path))
  expect(paths.flatMap(writesIn)).toEqual([])
})
