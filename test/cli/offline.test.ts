import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { sgwIn } from '../support/cli.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { folderInMemory } from '../support/memory-folder.ts'
import { startProgram } from '../support/process.ts'
import { freePort } from '../support/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { createWorld, until } from '../support/world.ts'

// What the command line does without a server, and says about it.

test.concurrent('a delivery that is made again without a server is made by the next start', async () => {
  await using receiver = startReceiver(500)
  const folder = folderInMemory()
  {
    await using world = await createWorld({ folder })
    await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
    await world.otherTenant()
    for (const text of ['first', 'second']) await world.control.injectSms({ text })
    await until(async () => (await world.json<{ total: number }>('GET', '/v1/webhook-deliveries')).body.total === 2)
  }
  const { stdout } = await sgwIn(folder, ['webhooks', 'list', '--json', '--limit', '1'])
  const [{ deliveryId }] = (JSON.parse(stdout) as { attempts: [{ deliveryId: string }] }).attempts
  const stderr = 'No server answers: the attempts are made when a server starts\n'
  expect(await sgwIn(folder, ['webhooks', 'redeliver', deliveryId, '--json'])).toMatchObject({
    code: 0,
    stdout: `${JSON.stringify({ deliveryId, attemptNumber: 2 })}\n`,
    stderr,
  })
  expect(await sgwIn(folder, ['webhooks', 'recover', '--since', '1h'])).toMatchObject({
    code: 0,
    stdout: 'scheduled  1\n',
    stderr,
  })
  expect((await sgwIn(folder, ['webhooks', 'redeliver', 'nonsense'])).stderr).toBe(
    'Delivery not found: list the deliveries with sgw webhooks list\n',
  )
  await using _restarted = await createWorld({ folder, connect: false })
  await receiver.received(4)
  rmSync(folder, { recursive: true })
})

test.concurrent('a link that is made without a server says that it needs one', async () => {
  const folder = folderInMemory()
  let appId = ''
  {
    await using world = await createWorld({ folder, connect: false, work: false })
    ;({ appId } = world.app)
  }
  for (const words of [
    ['console'],
    ['extensions', 'connect', '--app', appId],
    ['extensions', 'invite', '--app', appId],
  ])
    expect(await sgwIn(folder, words)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('http'),
      stderr: 'No server answers: start one (sgw start) before you open the link\n',
    })
  rmSync(folder, { recursive: true })
})

test.concurrent('at home no link is made that only this machine could follow, and the message names the JWT', async () => {
  const folder = folderInMemory()
  const keys = crypto.getRandomValues(new Uint8Array(32)).toBase64()
  let appId = ''
  {
    await using world = await createWorld({ folder, connect: false, work: false, env: { ENCRYPTION_KEYS: keys } })
    ;({ appId } = world.app)
  }
  const client = { RC_CLIENT_ID: 'client', RC_CLIENT_SECRET: 'client-key' }
  const home = { NODE_ENV: 'production', ENCRYPTION_KEYS: keys, ...client }
  for (const verb of ['connect', 'invite'])
    expect(await sgwIn(folder, ['extensions', verb, '--app', appId], home)).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'A link needs PUBLIC_URL, the https:// address that browsers reach: set it and restart, or connect the extension with a JWT (sgw extensions connect-jwt)\n',
    })
  rmSync(folder, { recursive: true })
})

test.concurrent('a command in a shell without the credentials of RingCentral asks the server that has them, or the database', async () => {
  const folder = folderInMemory()
  // Another program may have the port that is the default.
  const bare = { NODE_ENV: 'production', PORT: String(freePort()) }
  const works = async (words: string[], stdout: string) =>
    expect(await sgwIn(folder, words, bare)).toMatchObject({ code: 0, stdout: expect.stringContaining(stdout) })
  {
    await using world = await createWorld({ folder, connect: false })
    const operator = openOperatorSocket(world)
    await works(['status', '--json'], '"running":true')
    await works(['console'], '/console/#login=')
    await works(['extensions', 'list'], 'none')
    await operator.stop()
  }
  await works(['status', '--json'], '"running":false')
  await works(['tenant', 'list'], 'tenant_')
  expect((await sgwIn(folder, ['stop'], bare)).stderr).toStartWith('No server answers')
  expect((await sgwIn(folder, ['health'], bare)).stderr).toContain('/health does not answer')
  await using start = startProgram('src/cli.ts', ['start'], { ...bare, DATABASE_URL: `file:${folder}/sgw.db` })
  for (const said of [sgwIn(folder, ['doctor'], bare), sgwIn(folder, ['restore'], bare), start.ended()]) {
    const { stdout, stderr } = await said
    expect(stdout + stderr).toContain('RC_CLIENT_ID is not set')
  }
  rmSync(folder, { recursive: true })
})

test.concurrent('the doctor names the database that no server has, and of a path without one both possible reasons', async () => {
  const folder = folderInMemory()
  const serverLine = async (): Promise<string> => {
    const { stdout } = await sgwIn(folder, ['doctor', '--json'])
    const findings = JSON.parse(stdout) as { check: string; detail: string }[]
    return findings.find(({ check }) => check === 'server')?.detail ?? ''
  }
  const path = `${folder}/sgw.db`
  expect(await serverLine()).toBe(
    `no server answers for ${path}, and there is no database: if your server is running, this DATABASE_URL is not the server's; if it was never started, sgw start starts it and creates one`,
  )
  expect((await sgwIn(folder, ['tenant', 'create', '--name', 'Acme'])).code).toBe(0)
  expect(await serverLine()).toBe('not running: the checks below read its database')
  rmSync(folder, { recursive: true })
})
