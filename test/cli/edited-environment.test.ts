import { expect, setDefaultTimeout, test } from 'bun:test'
import { sgwIn } from '../support/cli.ts'
import { withServer } from '../support/cli-server.ts'
import { folderInMemory } from '../support/memory-folder.ts'
import { FROM, TO } from '../support/world.ts'

// A `.env` that was edited while the server runs, and is read by the next command.

setDefaultTimeout(60_000)

interface Finding {
  check: string
  level: string
  detail: string
}

const BROKEN = { PORT: 'eighty', MAX_QUEUE_AGE: 'soon', RC_JWT_FILE: '/nowhere/jwt' }
const WARNING =
  /^The server is running, but would not start again with this command's environment: PORT is "eighty": .*\n$/

test.concurrent('a command that asks the running server works with a bad environment, and warns of it in one line', async () => {
  await withServer(async (world) => {
    for (const words of [
      ['status'],
      ['console'],
      ['console', '--revoke'],
      ['tenant', 'list'],
      ['app', 'list', '--tenant', world.tenantId],
      ['extensions', 'list'],
      ['extensions', 'connect', '--tenant', world.tenantId],
      ['messages', 'list'],
      ['webhooks', 'list'],
      ['trigger', 'list', '--app', world.app.appId],
      ['simulate', 'inbound', '--to', FROM, '--from', TO, '--text', 'Hi'],
      ['send', '--from', FROM, '--to', TO, 'Hello'],
      ['unblock', '192.0.2.1'],
      ['keys', 'rotate'],
    ])
      expect({ words, ...(await sgwIn(world.folder, words, BROKEN)) }).toEqual({
        words,
        code: 0,
        stdout: expect.anything(),
        stderr: expect.stringMatching(WARNING),
      })
    const { code, stdout } = await sgwIn(world.folder, ['status', '--json'], BROKEN)
    expect([code, (JSON.parse(stdout) as { running: boolean }).running]).toEqual([0, true])
  })
})

test.concurrent('a bad setting that the command itself needs still stops it', async () => {
  await withServer(async (world) => {
    const refused = async (words: string[], env: Record<string, string>): Promise<string> => {
      const { code, stdout, stderr } = await sgwIn(world.folder, words, env)
      expect([code, stdout]).toEqual([1, ''])
      return stderr
    }
    // It would ask the gateway of another folder.
    expect(await refused(['status'], { DATABASE_URL: '"file:elsewhere.db"' })).toStartWith('DATABASE_URL is in quotes')
    expect(await refused(['keys', 'rotate'], { ENCRYPTION_KEYS: 'short' })).toStartWith('ENCRYPTION_KEYS has no base64')
    expect(
      await refused(['listen', '--forward-to', 'http://127.0.0.1:9'], { WEBHOOK_ALLOW_CIDRS: 'everything' }),
    ).toStartWith('WEBHOOK_ALLOW_CIDRS holds')
    expect(await refused(['health'], BROKEN)).toStartWith('PORT is "eighty"')
    expect(await refused(['restore', '--check'], BROKEN)).toStartWith('PORT is "eighty"')
  })
})

test.concurrent('without a server a bad environment is refused, because the command would act by it', async () => {
  const folder = folderInMemory()
  expect(await sgwIn(folder, ['status'], BROKEN)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^PORT .*\nRC_JWT_FILE .*\nMAX_QUEUE_AGE .*\n$/),
  })
  // Nothing of the environment would have helped.
  expect(await sgwIn(folder, ['stop'], BROKEN)).toMatchObject({
    code: 7,
    stderr: expect.stringMatching(/^No server answers/),
  })
})

test.concurrent('the doctor says that it reports on the running server, where .env has been edited since its start', async () => {
  const env = {
    KEY_LIMIT_PER_MINUTE: '100000',
    FROM_LIMIT_PER_MINUTE: '80',
    RC_EVENTS: 'webhook',
    PORT: '0',
    NODE_ENV: 'test',
  }
  await withServer(async (world) => {
    const doctor = async (own: Record<string, string>): Promise<Finding[]> =>
      JSON.parse((await sgwIn(world.folder, ['doctor', '--json'], own)).stdout) as Finding[]
    const about = (findings: Finding[], check: string): Finding[] => findings.filter((found) => found.check === check)
    expect(about(await doctor(env), 'environment')).toEqual([])
    // A shell that only knows where the database is has no environment of the gateway.
    expect(about(await doctor({}), 'environment')).toEqual([])
    expect(about(await doctor({ HTTPS_PROXY: 'http://proxy.example.com' }), 'environment')).toEqual([])
    const { FROM_LIMIT_PER_MINUTE: _removed, ...others } = env
    const edited = await doctor({ ...others, KEY_LIMIT_PER_MINUTE: '7', HOST: '::1', RC_JTW: 'x' })
    expect(edited.slice(0, 2)).toEqual([
      expect.objectContaining({
        check: 'configuration',
        level: 'warn',
        detail: 'RC_JTW is not a variable of sgw: did you mean RC_JWT?',
      }),
      expect.objectContaining({
        check: 'environment',
        level: 'warn',
        detail:
          'the checks below are about the running server, which was started with a different environment than this command (.env and shell): FROM_LIMIT_PER_MINUTE, HOST, KEY_LIMIT_PER_MINUTE differ; restart it to use the new values',
      }),
    ])
    expect(about(edited, 'server')).toHaveLength(1)
  }, env)
})

test.concurrent('the doctor names what is wrong with an edited .env, and still checks the running server', async () => {
  await withServer(async (world) => {
    const { code, stdout, stderr } = await sgwIn(world.folder, ['doctor', '--json'], {
      ...BROKEN,
      ALERT_URL: 'ftp://SECRET',
    })
    expect([code, stderr]).toEqual([1, ''])
    const findings = JSON.parse(stdout) as Finding[]
    expect(
      findings.filter(({ level }) => level === 'fail').map(({ check, detail }) => [check, detail.split(' ')[0]]),
    ).toEqual(['PORT', 'RC_JWT_FILE', 'MAX_QUEUE_AGE', 'ALERT_URL'].map((name) => ['configuration', name]))
    expect(findings.find(({ check }) => check === 'environment')?.detail).toEndWith(
      'correct the above before you restart it',
    )
    expect(findings.find(({ check }) => check === 'server')).toMatchObject({ level: 'ok' })
    expect(stdout).not.toContain('SECRET')
  })
})
