import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../src/core/version.ts'
import { withServer } from '../support/cli-server.ts'
import { PROJECT } from '../support/program.ts'
import { until } from '../support/world.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/operate.md'), 'utf8')

/** Without what is another one on each day and in each version. */
const timeless = (text: string, version: string): string =>
  text.replaceAll(version, 'VERSION').replace(/\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')

test('the manual shows what sgw status prints', async () => {
  const [, shown = ''] = /`sgw status` prints this:\n\n```text\n([\s\S]*?)```/.exec(PAGE) ?? []
  const [, version = ''] = /^version +(\S+)$/m.exec(shown) ?? []
  await withServer(async (_world, sgw) => {
    // The first back-fill of the extension ends soon after the start.
    const stdout = await until(async () => {
      const status = (await sgw.text('status')).stdout
      return /^queue +empty$/m.test(status) && status
    })
    expect(timeless(shown, version)).toBe(timeless(stdout, VERSION))
  })
})
