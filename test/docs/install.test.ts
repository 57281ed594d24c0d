import { expect, test } from 'bun:test'
import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/core/config.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, finished } from '../support/program.ts'

/** The shell blocks of a section of the manual. */
function blocksOf(section: string): string[] {
  const manual = readFileSync(join(PROJECT, 'docs/install.md'), 'utf8')
  const text = manual.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
}

/** Reads an `env_file` as Compose does: a value extends to the end of its line. */
const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name, value]]
    }),
  )

test('the commands for Compose write a .env that production accepts once the provider’s app is filled in', async () => {
  using folder = temporaryFolder()
  copyFileSync(join(PROJECT, '.env.example'), folder.file('.env.example'))
  const [make = '', start] = blocksOf('Container')
  expect(start).toStartWith('docker compose up')
  const { code, stderr } = await finished(['sh', '-euc', make], {}, folder.path)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(statSync(folder.file('.env')).mode & 0o777).toBe(0o600)
  const values = variablesOf(readFileSync(folder.file('.env'), 'utf8'))
  const app = { RC_CLIENT_ID: 'client-of-ours', RC_CLIENT_SECRET: 'client-key-of-ours' }
  const result = readConfig({ values: { ...values, ...app, NODE_ENV: 'production' }, readFile: () => '' })
  expect(result).toMatchObject({ ok: true, warnings: [], config: { publicUrl: 'https://sms.example.com' } })
})

test('the variables of a Raspberry Pi and of a container on a home server are complete once those of the app are filled in', async () => {
  using folder = temporaryFolder()
  copyFileSync(join(PROJECT, '.env.example'), folder.file('.env.example'))
  const blocks = blocksOf('At home').map((block) => block.replaceAll(/^ {3}/gm, ''))
  const make = blocks.find((block) => block.startsWith('cp .env.example')) ?? ''
  const { code, stderr } = await finished(['sh', '-euc', make], {}, folder.path)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const container = { NODE_ENV: 'production', ...variablesOf(readFileSync(folder.file('.env'), 'utf8')) }
  const pi = variablesOf(blocks.find((block) => block.startsWith('NODE_ENV=production')) ?? '')
  for (const values of [container, pi]) {
    const empty = Object.entries(values).filter(([, value]) => value === '')
    expect(empty.map(([name]) => name)).toEqual(['RC_CLIENT_ID', 'RC_CLIENT_SECRET', 'RC_JWT'])
    const filled = Object.fromEntries(empty.map(([name]) => [name, `${name}-of-ours`]))
    const result = readConfig({ values: { ...values, ...filled }, readFile: () => '' })
    expect(result).toMatchObject({
      ok: true,
      warnings: [],
      config: { hasPublicUrl: false, provider: { events: 'websocket' } },
    })
  }
})
