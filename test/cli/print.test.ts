import { expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config.ts'
import type { CliContext } from '../../src/cli/context.ts'
import { print, printFindings } from '../../src/cli/print.ts'

const EVIL = 'Desk\u001B]0;owned\u0007\r\nok  app_0\u0085\u009B31m\u007F\u202Etxt\u2066\u200F\u2028'
const SHOWN = String.raw`Desk\u001b]0;owned\u0007\u000d\u000aok  app_0\u0085\u009b31m\u007ftxt`

function printed(json: boolean, run: (context: CliContext) => void): string {
  const config = readConfig({ values: {}, readFile: () => '' })
  if (!config.ok) throw new Error(config.problems.join())
  let text = ''
  run({
    config: config.config,
    problems: [],
    json,
    environment: {},
    terminal: false,
    columns: null,
    showsProgress: false,
    prompt: null,
    stdin: null,
    stdout: (more) => void (text += more),
    stderr: () => undefined,
  })
  return text
}

/** Every character that can act on a terminal: C0 without the newline, DEL, C1, bidirectional controls, line separators. */
const ACTS = /(?!\n)[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/u

test('a table has one line per row and no character that acts on a terminal, whatever a tenant is called', () => {
  const text = printed(false, (context) => print(context, [{ appId: 'app_1', name: EVIL, more: { inner: [EVIL] } }]))
  expect(text.split('\n')).toHaveLength(3)
  expect(text).not.toMatch(ACTS)
  expect(text).toContain(SHOWN.slice(0, 40))
})

test('lines of a single result and of the doctor are escaped as well', () => {
  const single = printed(false, (context) => print(context, { name: EVIL, [EVIL]: 1 }))
  expect(single.split('\n')).toHaveLength(3)
  expect(single).not.toMatch(ACTS)
  const found = printed(false, (context) =>
    printFindings(context, [{ check: 'authorization', ok: false, level: 'fail', detail: `refused (403 ${EVIL})` }]),
  )
  expect(found.split('\n')).toHaveLength(2)
  expect(found).not.toMatch(ACTS)
})

test('JSON is escaped without a change of its value', () => {
  const text = printed(true, (context) => print(context, { name: EVIL }))
  expect(text).not.toMatch(ACTS)
  expect(JSON.parse(text)).toEqual({ name: EVIL })
})
