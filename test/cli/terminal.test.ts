import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { BASE_ENVIRONMENT } from '../support/environment.ts'
import { runSgw, sgwOnTerminal } from '../support/cli.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT } from '../support/program.ts'
import { until } from '../support/world.ts'

/** Starts `sgw` on a real terminal, and types an answer when it asks. */
async function onTerminal(words: string[], env: Record<string, string>, typed?: string) {
  let screen = ''
  const child = Bun.spawn([process.execPath, join(PROJECT, 'src/cli.ts'), ...words], {
    env: { ...BASE_ENVIRONMENT, HOME: process.env['HOME'] ?? '', ...env },
    terminal: { data: (_terminal, bytes) => void (screen += new TextDecoder().decode(bytes)) },
  })
  if (typed !== undefined) {
    await until(() => screen.includes('[y/N]'), 20_000)
    child.terminal?.write(`${typed}\n`)
  }
  const code = await child.exited
  child.terminal?.close()
  return { code, screen }
}

test.concurrent('deactivate, rotate-key and rotate-webhook-secret ask for confirmation, and change nothing without it', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  const json = async (...words: string[]): Promise<Record<string, string>> =>
    JSON.parse((await runSgw(['--json', ...words], env)).stdout) as Record<string, string>
  const { tenantId = '' } = await json('tenant', 'create', '--name', 'Acme')
  const { appId = '', apiKeyPrefix } = await json('app', 'create', '--tenant', tenantId, '--name', 'Desk')
  const app = async (): Promise<unknown> => json('app', 'list', '--tenant', tenantId)
  for (const verb of ['deactivate', 'rotate-key', 'rotate-webhook-secret'])
    for (const answer of ['n', '', 'yesterday']) {
      const said = await sgwOnTerminal(['app', verb, appId], env, answer)
      expect(said).toMatchObject({ code: 1, screen: expect.stringContaining('Nothing was done') })
    }
  expect(await onTerminal(['app', 'deactivate', appId], env, 'n')).toMatchObject({
    code: 1,
    screen: expect.stringContaining('Nothing was done'),
  })
  expect(await app()).toMatchObject([{ isActive: true, apiKeyPrefix }])
  expect(await onTerminal(['app', 'deactivate', appId], env, 'y')).toMatchObject({ code: 0 })
  expect(await app()).toMatchObject([{ isActive: false }])
}, 60_000)

test.concurrent('on a terminal, the doctor’s symbols are coloured unless NO_COLOR is set, and secret prints a labelled key', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  expect((await onTerminal(['doctor'], env)).screen).toContain('\u001B[32m✓\u001B[0m configuration')
  expect((await sgwOnTerminal(['doctor'], { ...env, NO_COLOR: '1' })).screen).toContain('✓ configuration')
  expect((await sgwOnTerminal(['secret'], env)).screen).toMatch(/^key +[A-Za-z0-9+/]{43}=/)
}, 60_000)

test.concurrent('on a terminal of 80 columns no line of a list is longer, ids are whole, and a state has a colour', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  const name = 'A name that is as long as names of companies are at times, and then some more'
  const made = await runSgw(['--json', 'tenant', 'create', '--name', name], env)
  const { tenantId } = JSON.parse(made.stdout) as { tenantId: string }
  const app = await runSgw(
    [
      '--json',
      'app',
      'create',
      '--tenant',
      tenantId,
      '--name',
      name,
      '--webhook-url',
      'https://hooks.example.com/a/long/way/to/go',
    ],
    env,
  )
  const { appId } = JSON.parse(app.stdout) as { appId: string }
  for (const [words, id] of [
    [['tenant', 'list'], tenantId],
    [['app', 'list'], appId],
    [['app', 'list', '--tenant', tenantId], appId],
  ] as const) {
    const { screen } = await sgwOnTerminal(words, { ...env, NO_COLOR: '1' })
    // Progress is written over, so a line ends at a carriage return too.
    for (const line of screen.split(/[\r\n]+/)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80)
    expect(screen).toContain(id)
    expect(screen).toContain('…')
  }
  const real = await onTerminal(['app', 'list'], env)
  for (const line of real.screen.split(/[\r\n]+/)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80)
  expect(real.screen).toContain('\u001B[32mactive\u001B[0m')
  const help = await sgwOnTerminal(['--help'], env)
  for (const line of help.screen.split(/\r?\n/)) expect(line.length).toBeLessThanOrEqual(80)
  expect((await sgwOnTerminal(['app', 'rotate'], env)).screen).toContain('(Did you mean rotate-key?)')
  expect((await sgwOnTerminal(['tenant', 'rotate-key'], env)).screen).toContain('(Did you mean sgw app rotate-key?)')
}, 60_000)

test.concurrent('a command whose reader has left ends without a stack trace', async () => {
  using folder = temporaryFolder()
  const env = { ...BASE_ENVIRONMENT, HOME: process.env['HOME'] ?? '', DATABASE_URL: folder.database }
  for (const words of [['--help'], ['doctor'], ['doctor', '--json']]) {
    // It begins once nobody reads any more.
    const line = ['sh', '-c', 'read line; exec "$@"', 'sh', process.execPath, join(PROJECT, 'src/cli.ts'), ...words]
    const child = Bun.spawn(line, { env, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
    await child.stdout.cancel()
    await child.stdin.write('\n')
    await child.stdin.end()
    expect(await child.stderr.text()).toBe('')
    expect(await child.exited).toBe(141)
  }
}, 60_000)
