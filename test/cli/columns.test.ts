import { expect, test } from 'bun:test'
import { sgwOnTerminal } from '../support/cli.ts'
import { withServer } from '../support/cli-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { type World, until } from '../support/world.ts'

/** What `sgw` shows on a terminal of 80 columns, line by line. Progress is written over, so a line ends at a carriage return too. */
async function shown(world: World, words: string[], env: Record<string, string> = {}): Promise<string[]> {
  const database = { DATABASE_URL: `file:${world.folder}/sgw.db` }
  const { screen } = await sgwOnTerminal(words, { NO_COLOR: '1', ...database, ...env })
  const lines = screen.split(/[\r\n]+/)
  expect(lines.filter((line) => Bun.stringWidth(line) > 80)).toEqual([])
  return lines
}

const LONG = 'a-long-name-of-an-address-that-nobody-would-choose'

test.concurrent('on a terminal of 80 columns no line of what an operator looks at is longer, and nothing of a fix is lost', async () => {
  await using receiver = startReceiver()
  receiver.answer = () =>
    new Response(`${'no such hook, and a long answer '.repeat(6)}${'x'.repeat(100)}`, { status: 410 })
  await withServer(async (world, sgw) => {
    const webhookUrl = `${receiver.url}/${LONG}/${LONG}?${LONG}=${LONG}`
    await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl } })
    await world.call('PUT', `/v1/apps/${world.app.appId}/webhook-events`, {
      body: { events: ['sms_inbound', 'sms_status', 'sms_delivery'] },
    })
    await world.send({ to: '+155555501991234' })
    await world.send({ from: '+155555509991234', to: '+155555501991234' })
    await until(async () => (await sgw.json<{ total: number }>('webhooks', 'list')).total >= 2)
    await world.gateway.database.gate.execute("UPDATE extensions SET status = 'revoked'")
    world.gateway.directory.forget(world.tenantId)
    const [webhooks, doctor, status, extensions] = await Promise.all([
      shown(world, ['webhooks', 'list']),
      shown(world, ['doctor']),
      shown(world, ['status']),
      shown(world, ['extensions', 'list']),
      shown(world, ['messages', 'list']),
      shown(world, ['trigger', 'list']),
    ])
    expect(webhooks.join('\n')).toMatch(/^✗ \S+ \S+ {2}msg_[0-9a-f]{12}:app_[0-9a-f]{16}:sms_status {2}attempt 1$/m)
    expect(webhooks.join('\n')).toMatch(/^ {4}http_error 410 after \d+ ms {2}http:\S+…$/m)
    const joined = (lines: string[], indent: number): string =>
      lines.join('\n').replaceAll(`\n${' '.repeat(indent)}`, ' ')
    expect(joined(webhooks, 4)).toContain('The destination answered 410: no such hook, and a long answer no such hook')
    const command = `sgw extensions invite --tenant ${world.tenantId}`
    expect(joined(doctor, 'x provider credentials  '.length)).toContain(command)
    expect(joined(status, 4)).toContain('is not registered in this provider account')
    expect(joined(extensions, 2)).toContain(command)
    // A file or another program gets each check in one line.
    const piped = (await sgw.text('doctor')).stdout
    expect(piped).toMatch(new RegExp(`^✗ extensions .*${command}`, 'm'))
    for (const line of piped.trimEnd().split('\n')) expect(line).toMatch(/^[✓–!✗] /)
  })
})

test.concurrent('without a server, a long path and a long address of the backup fit as well', async () => {
  await withServer(async (world) => {
    const env = {
      DATABASE_URL: `file:${world.folder}/${LONG}/${LONG}/sgw.db`,
      LITESTREAM_REPLICA_URL: `s3://${LONG}/${LONG}/${LONG}`,
    }
    const doctor = await shown(world, ['doctor'], env)
    expect(doctor.map((line) => line.trim()).join('')).toContain(`s3://${LONG}/${LONG}/${LONG}is set; check it:`)
  })
})
