import { expect, setDefaultTimeout, test } from 'bun:test'
import { sgwIn } from '../support/cli.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { temporaryFolder } from '../support/process.ts'
import { HOME, createWorld } from '../support/world.ts'

setDefaultTimeout(60_000)

const AT_HOME = {
  NODE_ENV: 'production',
  RC_CLIENT_ID: 'client',
  RC_CLIENT_SECRET: 'client-key',
  RC_EVENTS: 'websocket',
}

test('localhost is refused with the address to write instead, where the gateway accepts that one', async () => {
  using folder = temporaryFolder()
  const made = await sgwIn(folder.path, ['tenant', 'create', '--name', 'Acme', '--json'], AT_HOME)
  const { tenantId } = JSON.parse(made.stdout) as { tenantId: string }
  const refused = async (url: string, env: Record<string, string>): Promise<string> => {
    const words = ['app', 'create', '--tenant', tenantId, '--name', 'App', '--webhook-url', url]
    const { code, stderr } = await sgwIn(folder.path, words, { ...AT_HOME, ...env })
    expect(code).toBe(1)
    return stderr.trimEnd()
  }
  const text = 'Invalid webhookUrl: must be https:// in production, max 2000 chars'
  const general = `${text}: write it in full, such as https://example.com/sms; in production a private address such as 127.0.0.1 must be in WEBHOOK_ALLOW_CIDRS`
  const allowed = { WEBHOOK_ALLOW_CIDRS: '127.0.0.1' }
  const literal = `${text}: write 127.0.0.1 instead of localhost`
  expect(await refused('http://localhost:8123/sms', allowed)).toBe(literal)
  expect(await refused('https://localhost/sms', allowed)).toBe(literal)
  expect(await refused('http://localhost:8123/sms', { WEBHOOK_ALLOW_CIDRS: '::1' })).toBe(
    `${text}: write [::1] instead of localhost`,
  )
  expect(await refused('http://localhost:8123/sms', {})).toBe(general)
  expect(await refused('http://localhost:25/sms', allowed)).toBe(general)
  expect(await refused('http://hooks.example.com/sms', allowed)).toBe(general)
  expect(await refused('http://192.168.1.9:8123/sms', allowed)).toBe(
    `${text}: 192.168.1.9 is not in WEBHOOK_ALLOW_CIDRS: set WEBHOOK_ALLOW_CIDRS=192.168.1.9 (in addition to what it has), and restart (http:// needs that, and no PUBLIC_URL)`,
  )
  expect(await refused('https://[fd00::9]/sms', {})).toBe(
    `${text}: fd00::9 is not in WEBHOOK_ALLOW_CIDRS: set WEBHOOK_ALLOW_CIDRS=fd00::9 (in addition to what it has), and restart`,
  )
  expect(await refused('http://192.168.1.9:25/sms', {})).toBe(general)
  const server = {
    PUBLIC_URL: 'https://sms.example.com',
    ENCRYPTION_KEYS_FILE: `${folder.path}/encryption.key`,
    TRUSTED_PROXIES: '127.0.0.1',
  }
  expect(await refused('http://192.168.1.9:8123/sms', server)).toBe(general)
  expect((await sgwIn(folder.path, ['app', 'create', '--tenant', tenantId, '--name', 'App'], AT_HOME)).code).toBe(0)
  const words = ['trigger-subscription', 'create', '--tenant', tenantId, '--callback-url', 'http://localhost:8123/sms']
  expect((await sgwIn(folder.path, words, { ...AT_HOME, ...allowed })).stderr).toBe(
    'Invalid callbackUrl: must be https:// in production, max 2000 chars: write 127.0.0.1 instead of localhost\n',
  )
})

test('a command without the environment of its server promises no address that the server refuses as well', async () => {
  await using world = await createWorld({ env: HOME })
  const operator = openOperatorSocket(world)
  const words = ['app', 'update', world.app.appId, '--webhook-url', 'http://localhost:8123/sms']
  const { stderr } = await sgwIn(world.folder, words)
  expect(stderr).toContain('a private address such as 127.0.0.1 must be in WEBHOOK_ALLOW_CIDRS')
  await operator.stop()
})
