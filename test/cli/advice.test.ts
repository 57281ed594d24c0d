import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { textOf } from '../../src/operator/conditions/condition.ts'
import type { Finding } from '../../src/operator/doctor/finding.ts'
import { withServer } from '../support/cli-server.ts'
import { PROJECT } from '../support/program.ts'

// Each test starts many processes, and all run at once.
setDefaultTimeout(60_000)

test.concurrent('what an operator reads about a revoked extension names a command that works as it stands', async () => {
  await withServer(async (world, sgw) => {
    await world.gateway.database.gate.execute("UPDATE extensions SET status = 'revoked'")
    world.gateway.directory.forget(world.tenantId)
    const alerts = new Alerts(world.gateway, null)
    await alerts.run()
    const doctor = JSON.parse((await sgw.text('doctor', '--json')).stdout) as Finding[]
    const health = await world.json<{ extensions: { fix: string }[] }>('GET', '/v1/rc/extensions/health')
    const fix = health.body.extensions[0]?.fix ?? ''
    const texts = {
      alert: world.gateway.alerts.firing
        .filter(({ alert }) => alert === 'extension_revoked')
        .map(textOf)
        .join(),
      doctor: doctor.find(({ check }) => check === 'extensions')?.detail ?? '',
      list: (await sgw.text('extensions', 'list')).stdout,
      status: (await sgw.text('status')).stdout,
      fix,
    }
    const command = `sgw extensions invite --tenant ${world.tenantId}`
    for (const [where, text] of Object.entries(texts))
      expect({ where, text }).toMatchObject({ text: expect.stringContaining(command) })
    expect(texts.alert + texts.status).not.toContain('/v1/')
    // Apps read the fix as well, and have no shell on the gateway's machine.
    expect(fix).toContain('POST /v1/rc/invite-token')
    const { url } = await sgw.json<{ url: string }>(...command.split(' ').slice(1))
    const { pathname, search } = new URL(url)
    expect((await world.call('GET', `${pathname}${search}`, { key: null })).status).toBe(200)
    const { url: ofApp } = await sgw.json<{ url: string }>('extensions', 'invite', '--app', world.app.appId)
    expect(ofApp).toContain('/v1/rc/connect?token=')
  })
})

test.concurrent('a link needs an active app, and the error names the command that makes one', async () => {
  await withServer(async (world, sgw) => {
    await sgw.json('app', 'deactivate', world.app.appId, '--yes')
    const invite = ['extensions', 'invite', '--tenant', world.tenantId]
    const refused = await sgw.text(...invite)
    const command = `sgw app create --tenant ${world.tenantId} --name NAME`
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: `${world.tenantId} has no active app: create one with ${command}\n`,
    })
    // A tenant without one does not keep the others from what they ask for.
    await world.otherTenant()
    expect(await sgw.json('webhooks', 'recover', '--since', '1h')).toEqual({ scheduled: 0 })
    await sgw.json(...command.split(' ').slice(1))
    expect(await sgw.text(...invite)).toMatchObject({ code: 0 })
  })
})

/** Calls of the API whose work a command does. */
const COMMANDS: readonly [call: RegExp, command: RegExp][] = [
  [/\/v1\/rc\/(invite|connect)-token/, /sgw(ctl)? extensions (invite|connect)/],
  [/\/v1\/webhook-deliveries\?/, /sgw(ctl)? webhooks list/],
  [/\/v1\/rc\/extensions( |\/health)/, /sgw(ctl)? extensions list/],
  [/GET \/v1\/sms\/(messages|MESSAGE)/, /sgw(ctl)? messages (list|show)/],
]

const FOR_OPERATORS = [
  'deploy/prometheus/alerts.yml',
  'docs/after-sent.md',
  'docs/alerts.md',
  'docs/connect-ringcentral.md',
  'docs/operate.md',
  'docs/runbooks.md',
  'docs/troubleshoot.md',
  'docs/receive.md',
]

test.concurrent.each(FOR_OPERATORS)('%s names the command beside the call', (file) => {
  const parts = readFileSync(join(PROJECT, file), 'utf8').split(/\n(?=\n|[-|]|\s+action:)/)
  for (const [call, command] of COMMANDS)
    expect(parts.filter((part) => call.test(part) && !command.test(part))).toEqual([])
})
