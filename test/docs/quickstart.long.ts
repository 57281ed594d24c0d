import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LoggedProgram, PROJECT, finished, freePort } from '../support/program.ts'
import { temporaryFolder } from '../support/process.ts'
import { until } from '../support/world.ts'

// This test does what docs/quickstart.md says, in its order, with the page's own lines. It needs curl and Node.js.

setDefaultTimeout(120_000)

const PAGE = readFileSync(join(PROJECT, 'docs/quickstart.md'), 'utf8')
const blocksOf = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, block = '']) => block)
const [START = '', SEND = '', CREATE = '', EXPORT = '', INBOUND = ''] = blocksOf('sh')
const [APP = '', WEBHOOK = ''] = blocksOf('js')

test('the quickstart leads from the start to a webhook, as it is written', async () => {
  using folder = temporaryFolder()
  const [port, hook] = [String(freePort()), String(freePort())]
  const env = { HOME: folder.path, PORT: port, DATABASE_URL: folder.database }
  const here = (text: string): string =>
    text
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
      .replaceAll('8080', hook)
      .replaceAll('data/development-api-key', folder.file('development-api-key'))
      .replaceAll('npx -y bun@1.4.4', `'${process.execPath}'`)
  const sh = (text: string) => finished(['sh', '-euc', here(text)], env)
  const run = (name: string, command: string[], more: Record<string, string> = {}): LoggedProgram =>
    new LoggedProgram({ command, env: { ...env, ...more }, log: folder.file(`${name}.log`) })

  await using gateway = run('gateway', ['sh', '-c', `exec ${here(START)}`])
  await gateway.serving(`http://127.0.0.1:${port}/health`, 60_000)
  try {
    await until(() => gateway.output().includes('/console/'))
    const accepted = expect.stringMatching(/^\{"messageId":"msg_\w+","status":"queued"\}/)
    expect(await sh(SEND)).toMatchObject({ code: 0, stdout: accepted })

    const [list = '', create = ''] = CREATE.trim().split('\n')
    const tenant = /tenant_[0-9a-f]{16}/.exec((await sh(list)).stdout)?.[0] ?? 'none'
    const { stdout: created } = await sh(create.replace('TENANT', tenant))
    const printed = (pattern: RegExp): string => pattern.exec(created)?.[0] ?? 'none'
    expect(EXPORT.trim()).toBe('export SGW_KEY=sgw_… SGW_WEBHOOK_SECRET=whsec_…')
    const secrets = { SGW_KEY: printed(/sgw_[\w-]+/), SGW_WEBHOOK_SECRET: printed(/whsec_[\w+/=]+/) }

    writeFileSync(folder.file('app.mjs'), here(APP))
    const sent = await finished(['node', folder.file('app.mjs')], { ...env, ...secrets })
    const statuses = expect.stringMatching(/^(msg_\w+ sending\s+)?msg_\w+ sent\s+$/)
    expect(sent).toMatchObject({ code: 0, stdout: statuses, stderr: '' })

    writeFileSync(folder.file('webhook.mjs'), here(WEBHOOK))
    await using webhook = run('webhook', ['node', folder.file('webhook.mjs')], secrets)
    const forged = (): Promise<number> =>
      fetch(`http://127.0.0.1:${hook}/sms`, { method: 'POST', body: '{}' }).then(
        ({ status }) => status,
        () => 0,
      )
    await until(async () => (await forged()) === 401)
    expect(await sh(INBOUND.replace('APP', printed(/app_[0-9a-f]{16}/)))).toMatchObject({ code: 0 })
    await until(() => webhook.output() === '+15555550199 wrote: YES\n')
  } finally {
    // `bun run` passes it on to the gateway; the end of the test would kill only `bun run`.
    gateway.signal('SIGTERM')
    expect(await gateway.ended()).toBe(0)
  }
})
