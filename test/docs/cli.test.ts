import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliReference } from '../../scripts/cli-reference.ts'
import { PROJECT } from '../support/program.ts'

test('docs/cli.md has every command as it is called: bun scripts/cli-reference.ts writes it anew', () => {
  expect(readFileSync(join(PROJECT, 'docs/cli.md'), 'utf8')).toBe(cliReference())
})
