import { afterEach, expect, spyOn, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Alerts } from '../../src/alerts/alerts.ts'
import { controlSocket } from '../support/litestream-socket.ts'
import { insertDeliveries, messageIdOf } from '../support/delivery-rows.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type World, type WorldOptions, createWorld, recordedLog, until } from '../support/world.ts'

const MINUTE = 60_000

interface Stage extends AsyncDisposable {
  world: World
  clock: ManualClock
  receiver: Receiver
  alerts: Alerts
  /** What was posted since the last call, after looking `times` times. */
  look(times?: number): Promise<Record<string, unknown>[]>
}

const stages: AsyncDisposable[] = []
afterEach(async () => {
  for (const made of stages.splice(0)) await made[Symbol.asyncDispose]()
})

async function stage(options: WorldOptions = {}): Promise<Stage> {
  const clock = manualClock(Date.now())
  const world = await createWorld({ clock, work: false, ...options })
  const receiver = startReceiver()
  const made: Stage = {
    world,
    clock,
    receiver,
    alerts: new Alerts(world.gateway, receiver.url),
    look: async (times = 1) => {
      const before = receiver.requests.length
      for (let time = 0; time < times; time++) await made.alerts.run()
      return receiver.requests.slice(before).map(({ body }) => body)
    },
    [Symbol.asyncDispose]: async () => {
      await receiver[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
  stages.push(made)
  return made
}

const execute = async ({ world }: Stage, sql: string): Promise<void> => {
  await world.gateway.database.gate.execute(sql)
  world.gateway.directory.forget(world.tenantId)
}
const restart = (made: Stage): void => void (made.alerts = new Alerts(made.world.gateway, made.receiver.url))
const idOf = ({ world }: Stage): string => world.control.extensions()[0]?.extensionId ?? ''

test('a sound gateway posts nothing', async () => {
  expect(await (await stage()).look(3)).toEqual([])
})

test('a revoked extension is told once, and once when it is over, also across restarts', async () => {
  const made = await stage()
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  const [firing, ...more] = await made.look(3)
  expect(more).toEqual([])
  const ids = { tenantId: made.world.tenantId, extensionId: idOf(made) }
  expect(firing).toEqual({
    text: expect.stringContaining(`Extension ${ids.extensionId} of ${ids.tenantId} is revoked`),
    alert: 'extension_revoked',
    state: 'firing',
    since: new Date(made.clock.now()).toISOString(),
    detail: ids,
  })
  made.clock.advance(MINUTE)
  restart(made)
  expect(await made.look(2)).toEqual([])
  await execute(made, `UPDATE extensions SET status = 'active'`)
  restart(made)
  const [resolved, ...others] = await made.look(3)
  expect(others).toEqual([])
  expect(resolved).toEqual({
    ...firing,
    state: 'resolved',
    text: `Resolved: Extension ${ids.extensionId} of ${ids.tenantId} is no longer revoked.`,
  })
})

test('an extension that does not receive is told after a minute, with the fix; a short gap is not', async () => {
  const made = await stage()
  await execute(made, `UPDATE subscriptions SET status = 'pending'`)
  expect(await made.look()).toEqual([])
  made.clock.advance(MINUTE - 1)
  expect(await made.look()).toEqual([])
  await execute(made, `UPDATE subscriptions SET status = 'active'`)
  expect(await made.look()).toEqual([])
  await execute(made, `UPDATE subscriptions SET status = 'pending'`)
  await made.look()
  made.clock.advance(MINUTE)
  expect(await made.look()).toMatchObject([
    {
      alert: 'extension_not_receiving',
      state: 'firing',
      text: expect.stringContaining('/v1/webhooks/provider'),
      detail: { extensionId: idOf(made), fix: expect.any(String) },
    },
  ])
  await execute(made, 'DELETE FROM extensions')
  expect(await made.look()).toMatchObject([{ alert: 'extension_not_receiving', state: 'resolved' }])
})

test('a message that waits for more than ten minutes is told by its id', async () => {
  const made = await stage({ connect: false })
  const messageId = await made.world.send()
  const acceptedAt = made.clock.now()
  made.clock.advance(10 * MINUTE)
  expect(await made.look()).toEqual([])
  made.clock.advance(1)
  expect(await made.look(2)).toMatchObject([
    {
      alert: 'queue_old',
      state: 'firing',
      since: new Date(acceptedAt).toISOString(),
      text: expect.stringContaining(`${messageId} has waited for 10 minutes`),
      detail: { messageId },
    },
  ])
  await made.world.call('DELETE', `/v1/sms/${messageId}`)
  expect(await made.look()).toMatchObject([
    {
      alert: 'queue_old',
      state: 'resolved',
      since: new Date(acceptedAt).toISOString(),
      text: expect.stringContaining(messageId),
    },
  ])
})

test('a storage that fails is told although nothing can be stored, and once', async () => {
  const made = await stage()
  const { database } = made.world.gateway
  const fails = spyOn(database.storage!, 'probeIfFailing').mockResolvedValue(true)
  const write = spyOn(database.writer, 'write').mockRejectedValue(new Error('full'))
  const posts = await made.look(3)
  expect(posts).toMatchObject([{ alert: 'storage_failing', state: 'firing', text: expect.stringContaining('503') }])
  fails.mockRestore()
  expect(await made.look()).toMatchObject([{ alert: 'storage_failing', state: 'resolved' }])
  write.mockRestore()
  restart(made)
  expect(await made.look()).toEqual([])
})

test('what cannot be looked at is neither told nor over', async () => {
  const made = await stage()
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  expect(await made.look()).toHaveLength(1)
  const spy = spyOn(made.world.gateway.database.gate, 'execute').mockRejectedValue(new Error('unreadable'))
  expect(await made.look(2)).toEqual([])
  spy.mockRestore()
  expect(await made.look(2)).toEqual([])
})

test('a backup that is behind is told at once, one that says nothing after two minutes', async () => {
  const made = await stage({ env: { LITESTREAM: '1' } })
  expect(await made.look()).toEqual([])
  made.clock.advance(2 * MINUTE)
  expect(await made.look()).toMatchObject([{ alert: 'backup_behind', state: 'firing', detail: { lagSeconds: null } }])
  mkdirSync(join(made.world.folder, '.sgw.db-litestream/ltx'), { recursive: true })
  await using litestream = controlSocket(made.world.folder)
  expect(await made.look()).toMatchObject([{ alert: 'backup_behind', state: 'resolved' }])
  litestream.uploadedAt = Date.now() - 5 * MINUTE
  expect(await made.look()).toMatchObject([{ state: 'firing', text: expect.stringMatching(/behind for 30\d s/) }])
})

test('a destination that has failed for an hour is told; one success, or its end, is the end of it', async () => {
  const made = await stage({ connect: false })
  const { world, clock } = made
  const second = await world.secondApp('http://127.0.0.1:9/second')
  await execute(made, `UPDATE apps SET webhook_url = 'http://127.0.0.1:9/first'`)
  await made.look()
  let count = 0
  const attempt = (targetId: string, outcome: 'success' | 'timeout') =>
    insertDeliveries(world, [
      { messageId: messageIdOf(++count), kind: 'app', targetId, outcome, attemptedAt: clock.now() },
    ])
  const beganAt = clock.now()
  for (let quarter = 0; quarter < 4; quarter++) {
    await attempt(world.app.appId, 'timeout')
    await attempt(second.appId, quarter === 2 ? 'success' : 'timeout')
    expect(await made.look()).toEqual([])
    restart(made)
    clock.advance(15 * MINUTE)
  }
  expect(await made.look(2)).toMatchObject([
    {
      alert: 'webhook_failing',
      state: 'firing',
      since: new Date(beganAt).toISOString(),
      text: expect.stringContaining(world.app.appId),
      detail: { appId: world.app.appId, tenantId: world.tenantId, failedAttempts: 4 },
    },
  ])
  await attempt(world.app.appId, 'success')
  expect(await made.look()).toMatchObject([
    { alert: 'webhook_failing', state: 'resolved', since: new Date(beganAt).toISOString() },
  ])
  // The second app fails on until its address is removed.
  await attempt(second.appId, 'timeout')
  clock.advance(60 * MINUTE)
  expect(await made.look()).toMatchObject([{ state: 'firing', detail: { appId: second.appId } }])
  await execute(made, 'UPDATE apps SET webhook_url = NULL')
  expect(await made.look()).toMatchObject([{ state: 'resolved', detail: { appId: second.appId } }])
})

test('a thousand failing destinations of one tenant do not delay what is wrong for everybody', async () => {
  const made = await stage({ connect: false })
  const { world, clock } = made
  const triggers = `WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1099)
    INSERT INTO triggers (id, tenant_id, callback_url, secret, created_at)
    SELECT 'trg_' || i, '${world.tenantId}', 'http://127.0.0.1:9/', '', 0 FROM n`
  await execute(made, triggers)
  await made.look()
  await execute(
    made,
    `INSERT INTO deliveries (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome)
    SELECT 'msg_' || a.value || ':' || triggers.id, a.value, tenant_id, 'trigger', triggers.id, 'msg_1', 'cor_1', '', '', ${clock.now()}, 'timeout'
    FROM triggers, json_each('[1,2]') AS a`,
  )
  clock.advance(60 * MINUTE)
  const first = await made.look()
  expect(first.length).toBeLessThanOrEqual(10)
  await execute(
    made,
    `INSERT INTO jobs (id, kind, lane, tenant_id, subject, created_at) VALUES ('job_1', 'send', '', '', 'msg_1', 0)`,
  )
  expect(await made.look()).toContainEqual(expect.objectContaining({ alert: 'queue_old' }))
})

test('a single failed attempt is no failing destination', async () => {
  const made = await stage({ connect: false })
  await execute(made, `UPDATE apps SET webhook_url = 'http://127.0.0.1:9/first'`)
  await made.look()
  await insertDeliveries(made.world, [
    {
      messageId: messageIdOf(1),
      kind: 'app',
      targetId: made.world.app.appId,
      outcome: 'timeout',
      attemptedAt: made.clock.now(),
    },
  ])
  made.clock.advance(120 * MINUTE)
  expect(await made.look()).toEqual([])
  // Nothing is remembered of a destination that is gone.
  await execute(made, 'UPDATE apps SET webhook_url = NULL')
  await made.look()
  const { rows } = await made.world.gateway.database.gate.execute("SELECT value FROM facts WHERE name = 'alerts'")
  expect(JSON.parse(String(rows[0]?.['value']))).toMatchObject({ webhooks: { failing: {} } })
  expect(String(rows[0]?.['value'])).not.toContain(made.world.app.appId)
})

test('a post that fails is made again by the policy `short`; what is over waits its turn', async () => {
  const made = await stage()
  made.receiver.answer = () => new Response('', { status: 500 })
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  expect(await made.look(2)).toHaveLength(1)
  await execute(made, `UPDATE extensions SET status = 'active'`)
  for (const ms of [5000, 30_000, 2 * MINUTE, 10 * MINUTE]) {
    made.clock.advance(ms - 1)
    expect(await made.look(2)).toEqual([])
    restart(made)
    made.clock.advance(1)
    expect(await made.look(2)).toMatchObject([{ state: 'firing' }])
  }
  made.receiver.answer = () => new Response('')
  made.clock.advance(30 * MINUTE)
  expect((await made.look(3)).map(({ state }) => state)).toEqual(['firing', 'resolved'])
  made.clock.advance(24 * 60 * MINUTE)
  expect(await made.look(2)).toEqual([])
})

test('after six attempts a post is given up', async () => {
  const made = await stage()
  made.receiver.answer = () => new Response('', { status: 500 })
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  for (let attempt = 1; attempt <= 6; attempt++) {
    expect(await made.look(2)).toHaveLength(1)
    made.clock.advance(31 * MINUTE)
  }
  expect(await made.look(2)).toEqual([])
})

test('a post that was under way when the process ended is made again at its time, not at once', async () => {
  const made = await stage()
  const held = Promise.withResolvers<Response>()
  made.receiver.answer = () => held.promise
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  const run = made.alerts.run()
  await made.receiver.received(1)
  restart(made)
  expect(await made.look(2)).toEqual([])
  held.resolve(new Response(''))
  await run
})

test('the address is guarded like a webhook’s, and never logged', async () => {
  const { log, lines } = recordedLog()
  const made = await stage({ log })
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  const alerts = new Alerts(made.world.gateway, 'http://169.254.169.254/services/T0/SECRET')
  await alerts.run()
  expect(made.receiver.requests).toEqual([])
  const text = lines.join('\n')
  expect(text).toContain('an alert could not be posted')
  expect(text).not.toMatch(/SECRET|169\.254/)
})

test('a running gateway looks by itself where ALERT_URL is set', async () => {
  const clock = manualClock(Date.now())
  await using receiver = startReceiver()
  await using world = await createWorld({ clock, env: { ALERT_URL: receiver.url } })
  await world.gateway.database.gate.execute(`UPDATE extensions SET status = 'revoked'`)
  await until(() => {
    clock.advance(1000)
    return receiver.requests.length > 0
  })
  expect(receiver.requests[0]?.body).toMatchObject({ alert: 'extension_revoked', state: 'firing' })
})
