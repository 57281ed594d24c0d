import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, finished, freePort } from '../support/program.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/testing.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) => code)

/** `bun` is found under its name. */
const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`

test('the run in CI starts the server, sends, looks at the phone, answers and stops', async () => {
  const script = (blocks('sh').find((block) => block.includes('start --test')) ?? '').replaceAll(
    '3999',
    String(freePort()),
  )
  const { code, stdout, stderr } = await finished(['sh', '-euc', script], { PATH, HOME: process.env['HOME'] ?? '' })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
  expect(stdout).toContain('"status":"queued"')
  expect(stdout).toMatch(/pid +\d+/)
}, 120_000)

test('the test with the kit passes in a project that has sgw installed', async () => {
  using folder = temporaryFolder()
  mkdirSync(folder.file('node_modules'))
  symlinkSync(PROJECT, folder.file('node_modules/sgw'))
  const [example = '', webhook = ''] = blocks('ts')
  writeFileSync(folder.file('patient.test.ts'), example.replace("await patient.reply('C')\n", `$&\n${webhook}`))
  const { code, stderr } = await finished([process.execPath, 'test'], {}, folder.path)
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('1 pass') })
}, 60_000)
