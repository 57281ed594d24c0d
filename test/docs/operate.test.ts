import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../src/core/version.ts'
import { withServer } from '../support/cli-server.ts'
import { PROJECT } from '../support/program.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/operate.md'), 'utf8')

/** Without what is another one on each day and in each version. */
const timeless = (text: string, version: string): string =>
  text.replaceAll(version, 'VERSION').replace(/\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')

test('the manual shows what sgw status prints', async () => {
  const [, shown = ''] = /`sgw status` of a gateway .*:\n\n```text\n([\s\S]*?)```/.exec(PAGE) ?? []
  const [, version = ''] = /^version +(\S+)$/m.exec(shown) ?? []
  await withServer(async (_world, sgw) => {
    const { stdout } = await sgw.text('status')
    expect(timeless(shown, version)).toBe(timeless(stdout, VERSION))
  })
})
