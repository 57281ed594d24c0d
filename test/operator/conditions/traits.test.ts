import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { CONDITIONS } from '../../../src/operator/conditions/table.ts'
import { TRAITS } from '../../../src/operator/conditions/traits.ts'
import { PROJECT } from '../../support/program.ts'

const NAMES = CONDITIONS.map(({ alert }) => alert)

test('only a condition of the table has traits, and each condition has one name', () => {
  expect(Object.keys(TRAITS).filter((name) => !NAMES.includes(name))).toEqual([])
  expect(new Set(NAMES).size).toBe(NAMES.length)
})

/** Files outside of `conditions/` that treat one condition in a special way. A new condition needs none. */
const SPECIAL: Record<string, string[]> = {
  backup_behind: ['facts/alert-facts.ts'],
  // Earlier releases stored another subject.
  clock_wrong: ['alerts/state.ts'],
  extension_revoked: ['all/tenant-facts.ts'],
  no_extension_can_send: ['facts/facts-of.ts'],
  queue_old: ['facts/alert-facts.ts'],
  webhook_failing: ['status.ts'],
  webhooks_interrupted: ['facts/alert-facts.ts', 'status.ts'],
}

test('whatever reads the list knows no condition by name, except where one is special', async () => {
  const found: Record<string, string[]> = {}
  for (const folder of ['src/console/page', 'src/cli', 'src/operator'])
    for (const path of [...new Bun.Glob('**/*.{ts,tsx}').scanSync(join(PROJECT, folder))].toSorted()) {
      // The examples of commands name one, and a reason of a waiting message has the name of another.
      if (/^conditions\/|^examples\.ts$|^reasons\.ts$|^messages\/wait-/.test(path)) continue
      const code = (await Bun.file(join(PROJECT, folder, path)).text()).replaceAll(/example: '\w+'/g, '')
      for (const name of NAMES) if (new RegExp(`\\b${name}\\b`).test(code)) (found[name] ??= []).push(path)
    }
  expect(found).toEqual(SPECIAL)
})
