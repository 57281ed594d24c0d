import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '../../../src/core/limits.ts'
import { Alerts } from '../../../src/operator/alerts/alerts.ts'
import { textOf } from '../../../src/operator/conditions/condition.ts'
import { readStatus } from '../../../src/operator/status.ts'
import { sgwIn } from '../../support/cli.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { openOperatorSocket } from '../../support/operator.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { setRetryPolicy, setWebhookUrl } from '../../support/retries.ts'
import { type World, createWorld } from '../../support/world.ts'

/**
 * Processes that end one after the other during the POSTs of as many webhooks as `counts` says, and the one that runs then. All webhooks are
 * of the first one's app.
 */
async function crashed(clock: ManualClock, receiver: Receiver, counts: readonly number[], policy = 'none') {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  const open = (connect: boolean, work: boolean): Promise<World> => createWorld({ clock, folder, connect, work })
  for (const [at, count] of counts.entries()) {
    await using world = await open(at === 0, false)
    if (at === 0) await receive(world, receiver, policy, counts)
    await world.gateway.database.gate.execute({ sql: OPEN, args: [clock.now(), count] })
    clock.advance(60_000)
  }
  const world = await open(false, true)
  return {
    world,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function receive(world: World, receiver: Receiver, policy: string, counts: readonly number[]): Promise<void> {
  await setWebhookUrl(world, receiver.url)
  await setRetryPolicy(world, policy)
  for (const [at, count] of counts.entries())
    for (let text = 0; text < count; text++) await world.control.injectSms({ text: `${at} ${text}` })
}

/** The open attempts of a process that was killed during its POSTs. */
const OPEN = `INSERT INTO webhook_attempts (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at)
  SELECT subject, 1, tenant_id, 'app', lane, substr(subject, 1, 16), 'cor_0', '', 'boot_before', ?1 FROM jobs WHERE kind = 'webhook' LIMIT ?2`

const unposted = async ({ gateway }: World) => (await readStatus(gateway)).interruptedWebhooks
const alertsOf = async (alerts: Alerts) =>
  (await alerts.check()).firing.filter(({ alert }) => alert === 'webhooks_interrupted')

test('webhooks that a crash interrupted are counted, told once, and posted by a recovery since the time that is named', async () => {
  const clock = manualClock()
  await using receiver = startReceiver()
  const beganAt = new Date(clock.now()).toISOString()
  await using gateway = await crashed(clock, receiver, [3])
  const { world } = gateway
  const alerts = new Alerts(world.gateway, null)
  expect(await unposted(world)).toEqual({ count: 3, since: beganAt })
  const command = `sgw webhooks recover --since ${beganAt}`
  const [alert, ...others] = await alertsOf(alerts)
  expect([alert && textOf(alert), alert?.detail, others]).toEqual([
    `3 webhooks were interrupted, by a crash, a takeover or a failing disk, and may not have arrived. ${command} posts again what failed since then. A retry policy does this automatically.`,
    { webhooks: 3 },
    [],
  ])
  const operator = openOperatorSocket(world)
  const { stdout } = await sgwIn(world.folder, ['status'])
  expect(stdout).toContain('! 3 webhooks were interrupted since')
  expect(stdout.split('\n').filter((line) => line.includes('recover'))).toEqual([`    ${command}`])
  const recovered = await sgwIn(world.folder, command.split(' ').slice(1).concat('--json'))
  expect(JSON.parse(recovered.stdout)).toEqual({ scheduled: 3 })
  await operator.stop()
  await receiver.received(3)
  expect([await unposted(world), await alertsOf(alerts)]).toEqual([null, []])
})

test('what a retry policy posts again is not counted', async () => {
  const clock = manualClock()
  await using receiver = startReceiver()
  await using gateway = await crashed(clock, receiver, [2], 'short')
  expect(await unposted(gateway.world)).toBeNull()
})

test('a second crash adds to the first, and is another alert; a day later neither is told', async () => {
  const clock = manualClock()
  await using receiver = startReceiver()
  const beganAt = new Date(clock.now()).toISOString()
  await using gateway = await crashed(clock, receiver, [2, 1])
  const { world } = gateway
  expect(await unposted(world)).toEqual({ count: 3, since: beganAt })
  clock.advance(DAY_MS)
  expect([await unposted(world), await alertsOf(new Alerts(world.gateway, null))]).toEqual([null, []])
})

test('webhooks without an address any more, or of a suspended tenant, are not counted', async () => {
  const clock = manualClock()
  await using receiver = startReceiver()
  await using gateway = await crashed(clock, receiver, [2])
  const { world } = gateway
  const run = (sql: string) => world.gateway.database.gate.execute(sql)
  await run("UPDATE tenants SET status = 'suspended'")
  expect(await unposted(world)).toBeNull()
  await run("UPDATE tenants SET status = 'active'")
  expect((await unposted(world))?.count).toBe(2)
  await run('UPDATE apps SET webhook_url = NULL')
  expect(await unposted(world)).toBeNull()
})
