import { afterEach, expect, spyOn, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Alerts } from '../../../src/operator/alerts/alerts.ts'
import { Quota } from '../../../src/provider/quota.ts'
import type { Finding } from '../../../src/operator/doctor/finding.ts'
import { controlSocket } from '../../support/litestream-socket.ts'
import { endDeliveries, messageIdOf } from '../../support/delivery-rows.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { operate } from '../../support/operator.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type World, type WorldOptions, createWorld, recordedLog, until } from '../../support/world.ts'

const MINUTE = 60_000

interface AlertSetup extends AsyncDisposable {
  world: World
  clock: ManualClock
  receiver: Receiver
  alerts: Alerts
  /** Runs the checks `times` times and returns the bodies that were posted. */
  check(times?: number): Promise<Record<string, unknown>[]>
}

/** The only extension of a tenant that cannot send is another alert besides, which has its own test. */
const isOfItsOwn = ({ alert }: Record<string, unknown>): boolean => alert !== 'no_extension_can_send'

const setups: AsyncDisposable[] = []
afterEach(async () => {
  for (const made of setups.splice(0)) await made[Symbol.asyncDispose]()
})

async function setUp(options: WorldOptions = {}): Promise<AlertSetup> {
  const clock = manualClock(Date.now())
  const world = await createWorld({ clock, work: false, ...options })
  const receiver = startReceiver()
  const made: AlertSetup = {
    world,
    clock,
    receiver,
    alerts: new Alerts(world.gateway, receiver.url),
    check: async (times = 1) => {
      const before = receiver.requests.length
      for (let time = 0; time < times; time++) await made.alerts.run()
      return receiver.requests
        .slice(before)
        .map(({ body }) => body)
        .filter(isOfItsOwn)
    },
    [Symbol.asyncDispose]: async () => {
      await receiver[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
  setups.push(made)
  return made
}

const execute = async ({ world }: AlertSetup, sql: string): Promise<void> => {
  await world.gateway.database.gate.execute(sql)
  world.gateway.directory.forget(world.tenantId)
}
const restart = (made: AlertSetup): void => void (made.alerts = new Alerts(made.world.gateway, made.receiver.url))
const idOf = ({ world }: AlertSetup): string => world.control.extensions()[0]?.extensionId ?? ''

test('a healthy gateway posts no alert', async () => {
  expect(await (await setUp()).check(3)).toEqual([])
})

test('a revoked extension fires one alert and resolves it once, also across restarts', async () => {
  const made = await setUp()
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  const [firing, ...more] = await made.check(3)
  expect(more).toEqual([])
  const ids = { tenantId: made.world.tenantId, extensionId: idOf(made) }
  const reason = 'Its authorization has ended'
  const what = `Extension ${ids.extensionId} of ${ids.tenantId} is revoked, so its messages fail. ${reason}`
  const fix = `Authorize it again with an invite link: sgw extensions invite --tenant ${ids.tenantId}.`
  expect(firing).toEqual({
    text: `${what}. ${fix}`,
    alert: 'extension_revoked',
    subject: ids.extensionId,
    what,
    fix,
    state: 'firing',
    since: new Date(made.clock.now()).toISOString(),
    detail: { ...ids, extensionNumber: '101', reason, fix },
  })
  made.clock.advance(MINUTE)
  restart(made)
  expect(await made.check(2)).toEqual([])
  await execute(made, `UPDATE extensions SET status = 'active'`)
  restart(made)
  const [resolved, ...others] = await made.check(3)
  expect(others).toEqual([])
  expect(resolved).toEqual({
    ...firing,
    state: 'resolved',
    text: `Resolved: Extension ${ids.extensionId} of ${ids.tenantId} is no longer revoked, or no longer in use.`,
  })
})

test('what release 1.1.0 has posted is not posted again, and its subject and words are those of now', async () => {
  const made = await setUp({ connect: false })
  const { gateway, tenantId } = made.world
  const messageId = await made.world.send()
  const since = made.clock.now()
  made.clock.advance(11 * MINUTE)
  const text = `Message ${messageId} has waited for 10 minutes to be sent, and is the oldest of the queue: see sgw status and sgw doctor.`
  const queue = {
    alert: 'queue_old',
    subject: 'queue',
    text,
    overText: 'Resolved.',
    detail: { messageId, tenantId },
    since,
  }
  const jwt = {
    ...queue,
    alert: 'jwt_refused',
    subject: 'RC_JWT',
    text: 'RC_JWT connects no extension: copy it again.',
  }
  await gateway.database.gate.execute({
    sql: "INSERT INTO facts (name, value) VALUES ('alerts', ?1)",
    args: [JSON.stringify({ firing: [queue, jwt], posts: [] })],
  })
  // The alert continues until RC_JWT is presented again.
  gateway.configuredJwt.state = { kind: 'untried' }
  expect(await made.check(2)).toEqual([])
  expect(gateway.alerts.firing).toMatchObject([
    {
      alert: 'queue_old',
      subject: 'gateway',
      what: `Message ${messageId} has waited for 11 minutes to be sent, and is the oldest of the queue`,
      fix: expect.stringContaining('sgw status'),
      since,
    },
    { alert: 'jwt_refused', subject: 'gateway', what: 'RC_JWT connects no extension: copy it again', since },
  ])
  gateway.configuredJwt.state = { kind: 'connected' }
  await made.world.call('DELETE', `/v1/sms/${messageId}`)
  expect(await made.check(2)).toMatchObject([
    { alert: 'jwt_refused', state: 'resolved', subject: 'gateway' },
    { alert: 'queue_old', state: 'resolved', subject: 'gateway' },
  ])
})

test('what began without ALERT_URL is posted once, when there is one', async () => {
  const made = await setUp()
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  made.alerts = new Alerts(made.world.gateway, null)
  expect(await made.check(2)).toEqual([])
  restart(made)
  expect(await made.check(2)).toMatchObject([{ alert: 'extension_revoked', state: 'firing' }])
  restart(made)
  expect(await made.check()).toEqual([])
  made.alerts = new Alerts(made.world.gateway, null)
  await execute(made, `UPDATE extensions SET status = 'active'`)
  await made.check()
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  await made.check()
  await execute(made, `UPDATE extensions SET status = 'active'`)
  await made.check()
  restart(made)
  expect(await made.check()).toEqual([])
})

test('what was posted in vain until ALERT_URL was removed is posted once there is another one', async () => {
  const made = await setUp()
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  made.receiver.answer = () => new Response('wrong address', { status: 404 })
  expect(await made.check()).toHaveLength(1)
  made.alerts = new Alerts(made.world.gateway, null)
  await made.check()
  made.receiver.answer = () => new Response('')
  restart(made)
  expect(await made.check(2)).toMatchObject([{ alert: 'extension_revoked', state: 'firing' }])
})

test('what was over before the first check with ALERT_URL is not posted', async () => {
  const made = await setUp()
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  made.alerts = new Alerts(made.world.gateway, null)
  await made.check()
  await execute(made, `UPDATE extensions SET status = 'active'`)
  restart(made)
  expect(await made.check(2)).toEqual([])
})

test('an extension that does not receive fires after a minute and names the fix; a short interruption does not fire', async () => {
  const made = await setUp()
  made.world.gateway.lifecycle.working = true
  await execute(made, `UPDATE subscriptions SET status = 'pending'`)
  expect(await made.check()).toEqual([])
  made.clock.advance(MINUTE - 1)
  expect(await made.check()).toEqual([])
  await execute(made, `UPDATE subscriptions SET status = 'active'`)
  expect(await made.check()).toEqual([])
  await execute(made, `UPDATE subscriptions SET status = 'pending'`)
  await made.check()
  made.clock.advance(MINUTE)
  expect(await made.check()).toMatchObject([
    {
      alert: 'extension_not_receiving',
      state: 'firing',
      text: expect.stringContaining('/v1/webhooks/provider'),
      detail: { extensionId: idOf(made), fix: expect.any(String) },
    },
  ])
  await execute(made, 'DELETE FROM extensions')
  expect(await made.check()).toMatchObject([{ alert: 'extension_not_receiving', state: 'resolved' }])
})

/** What the provider answers to a listing that it refuses. */
const FORBIDDEN = {
  reason: 'rejected',
  status: 403,
  code: 'CMN-408',
  message: 'Forbidden',
  oauthError: null,
  retryAfterMs: null,
  requestId: null,
} as const

test('an extension that fails is told once, also across a restart, which forgets what was refused', async () => {
  const made = await setUp()
  const { gateway, tenantId } = made.world
  const refusal = { tenantId, extensionId: idOf(made), step: 'messages', failure: FORBIDDEN } as const
  const { refusals } = gateway.directory
  refusals.note(refusal, made.clock.now())
  made.clock.advance(15 * MINUTE - 1)
  expect(await made.check(2)).toEqual([])
  made.clock.advance(1)
  expect(await made.check(2)).toMatchObject([
    {
      alert: 'extension_failing',
      state: 'firing',
      text: expect.stringContaining(
        '. The provider refused to list its inbound messages (403 CMN-408). The user lacks',
      ),
      since: new Date(made.clock.now() - 15 * MINUTE).toISOString(),
      detail: { tenantId, extensionId: idOf(made), cause: 'messages', fix: expect.any(String) },
    },
  ])
  refusals.forget(refusal)
  restart(made)
  expect(await made.check(2)).toEqual([])
  made.clock.advance(4 * MINUTE)
  refusals.note(refusal, made.clock.now())
  made.clock.advance(30 * MINUTE)
  expect(await made.check(2)).toEqual([])
  refusals.forget(refusal)
  restart(made)
  made.clock.advance(5 * MINUTE - 1)
  expect(await made.check(2)).toEqual([])
  made.clock.advance(1)
  expect(await made.check(2)).toMatchObject([{ alert: 'extension_failing', state: 'resolved' }])
})

test.each(['announced', 'followed by another'])(
  'a pause that is %s and outlasts a restart, which forgets when it began, is not over',
  async (kind) => {
    const made = await setUp()
    const { gateway } = made.world
    const { limits } = gateway.quota
    const group = kind === 'announced' ? 'medium' : 'light'
    gateway.quota.pause(idOf(made), group, 60 * MINUTE)
    made.clock.advance(15 * MINUTE)
    expect(await made.check(2)).toMatchObject([{ alert: 'extension_failing', detail: { cause: 'paused' } }])
    restart(made)
    gateway.quota = new Quota(made.clock, limits)
    // The pause of sends is stored, and reading is tried at the start.
    if (group === 'medium') gateway.quota.pause(idOf(made), group, 45 * MINUTE, null)
    else gateway.quota.pause(idOf(made), group, MINUTE)
    expect(await made.check(2)).toEqual([])
    made.clock.advance(10 * MINUTE)
    expect(await made.check(2)).toEqual([])
    made.clock.advance(35 * MINUTE)
    expect(await made.check(2)).toMatchObject([{ alert: 'extension_failing', state: 'resolved' }])
  },
)

test('tokens that are refreshed again end the alert at once, also directly after a restart', async () => {
  const made = await setUp()
  await execute(made, `UPDATE extensions SET status = 'refresh_failed', status_since = ${made.clock.now()}`)
  made.clock.advance(15 * MINUTE)
  expect(await made.check(2)).toMatchObject([{ alert: 'extension_failing', detail: { cause: 'refresh' } }])
  await execute(made, `UPDATE extensions SET status = 'active', status_since = ${made.clock.now()}`)
  restart(made)
  expect(await made.check(2)).toMatchObject([{ alert: 'extension_failing', state: 'resolved' }])
})

test('an extension that fails for another reason says so, and is not posted again', async () => {
  const made = await setUp()
  const { gateway, tenantId } = made.world
  const key = { tenantId, extensionId: idOf(made) }
  gateway.directory.refusals.note({ ...key, step: 'messages', failure: FORBIDDEN }, made.clock.now())
  made.clock.advance(15 * MINUTE)
  expect(await made.check()).toHaveLength(1)
  gateway.directory.refusals.forget(key)
  gateway.directory.refusals.note({ ...key, step: 'numbers', failure: FORBIDDEN }, made.clock.now())
  expect(await made.check(2)).toEqual([])
  expect(gateway.alerts.firing).toMatchObject([
    { what: expect.stringContaining('refused to list its phone numbers'), detail: { cause: 'numbers' } },
  ])
  await execute(made, 'DELETE FROM extensions')
  expect(await made.check()).toMatchObject([{ alert: 'extension_failing', state: 'resolved' }])
})

test('a provider that refreshes no tokens at all is few alerts of each tenant, and none of tenants that have left', async () => {
  const made = await setUp()
  const copies = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 599)
    INSERT INTO extensions (tenant_id, extension_id, account_id, status, status_since, connected_at, access_token, access_expires_at,
      refresh_token, refresh_expires_at, refreshed_at)
    SELECT 'tenant_' || (i / 200), 'x' || i, '1', 'refresh_failed', 0, 0, '', 0, '', 0, 0 FROM n`
  for (const [tenant, status] of Object.entries({ tenant_0: 'active', tenant_1: 'suspended', tenant_2: 'inactive' }))
    await execute(
      made,
      `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('${tenant}', '', '${status}', 0, 0)`,
    )
  await execute(made, copies)
  await made.check()
  const failing = made.world.gateway.alerts.firing.filter(({ alert }) => alert === 'extension_failing')
  const tenants = failing.map(({ detail }) => detail['tenantId'])
  expect(
    Map.groupBy(tenants, (tenant) => tenant)
      .entries()
      .map(([tenant, all]) => [tenant, all.length])
      .toArray(),
  ).toEqual([
    ['tenant_0', 20],
    ['tenant_1', 20],
  ])
})

test('a message that waits for more than ten minutes fires an alert with its id', async () => {
  const made = await setUp({ connect: false })
  const messageId = await made.world.send()
  const acceptedAt = made.clock.now()
  made.clock.advance(10 * MINUTE)
  expect(await made.check()).toEqual([])
  made.clock.advance(1)
  expect(await made.check(2)).toMatchObject([
    {
      alert: 'queue_old',
      state: 'firing',
      since: new Date(acceptedAt).toISOString(),
      text: expect.stringContaining(`${messageId} has waited for 10 minutes`),
      detail: { messageId, tenantId: made.world.tenantId },
    },
  ])
  await made.world.call('DELETE', `/v1/sms/${messageId}`)
  expect(await made.check()).toMatchObject([
    {
      alert: 'queue_old',
      state: 'resolved',
      since: new Date(acceptedAt).toISOString(),
      text: expect.stringContaining(messageId),
    },
  ])
})

test('an old queue names the tenant that has the oldest message now', async () => {
  const made = await setUp({ connect: false })
  const { world, clock, gateway } = { ...made, gateway: made.world.gateway }
  const first = await world.send()
  await execute(
    made,
    `INSERT INTO jobs (id, kind, lane, tenant_id, subject, created_at) VALUES ('job_2', 'send', '', 'tenant_other', 'msg_2', ${clock.steady() + 1})`,
  )
  clock.advance(11 * MINUTE)
  expect(await made.check(2)).toMatchObject([{ alert: 'queue_old', detail: { tenantId: world.tenantId } }])
  await world.call('DELETE', `/v1/sms/${first}`)
  expect(await made.check(2)).toEqual([])
  expect(gateway.alerts.firing).toMatchObject([
    { what: expect.stringContaining('msg_2 has waited'), detail: { messageId: 'msg_2', tenantId: 'tenant_other' } },
  ])
})

test('messages of a suspended tenant are no alert, and do not hide the oldest one of another', async () => {
  const made = await setUp({ connect: false })
  const { world, clock } = made
  const held = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
    INSERT INTO jobs (id, kind, lane, tenant_id, subject, created_at)
    SELECT 'job_1', 'send', '', 'tenant_held', 'msg_1', ${clock.steady()} FROM n`
  await execute(
    made,
    `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('tenant_held', '', 'suspended', 0, 0)`,
  )
  await execute(made, held)
  clock.advance(11 * MINUTE)
  expect(await made.check(2)).toEqual([])
  const messageId = await world.send()
  clock.advance(11 * MINUTE)
  expect(await made.check(2)).toMatchObject([{ alert: 'queue_old', state: 'firing', detail: { messageId } }])
})

test('a failing storage fires once, although nothing can be stored', async () => {
  const made = await setUp()
  const { database } = made.world.gateway
  database.storage!.failed('SQLITE_FULL')
  const fails = spyOn(database.storage!, 'probeIfFailing').mockResolvedValue(true)
  const write = spyOn(database.writer, 'write').mockRejectedValue(new Error('full'))
  const posts = await made.check(3)
  expect(posts).toMatchObject([{ alert: 'storage_failing', state: 'firing', text: expect.stringContaining('503') }])
  fails.mockRestore()
  expect(await made.check()).toMatchObject([{ alert: 'storage_failing', state: 'resolved' }])
  write.mockRestore()
  restart(made)
  expect(await made.check()).toEqual([])
})

test('a condition that cannot be checked neither fires nor resolves', async () => {
  const made = await setUp()
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  expect(await made.check()).toHaveLength(1)
  const spy = spyOn(made.world.gateway.database.gate, 'execute').mockRejectedValue(new Error('unreadable'))
  expect(await made.check(2)).toEqual([])
  spy.mockRestore()
  expect(await made.check(2)).toEqual([])
})

test('a backup that is behind fires at once, and a backup without a status after two minutes', async () => {
  const made = await setUp({ env: { LITESTREAM: '1' } })
  expect(await made.check()).toEqual([])
  made.clock.advance(2 * MINUTE)
  expect(await made.check()).toMatchObject([{ alert: 'backup_behind', state: 'firing', detail: { lagSeconds: null } }])
  mkdirSync(join(made.world.folder, '.sgw.db-litestream/ltx'), { recursive: true })
  await using litestream = controlSocket(made.world.folder)
  expect(await made.check()).toMatchObject([{ alert: 'backup_behind', state: 'resolved' }])
  litestream.uploadedAt = Date.now() - 5 * MINUTE
  expect(await made.check()).toMatchObject([{ state: 'firing', text: expect.stringMatching(/behind for 30\d s/) }])
})

test('a destination that has failed for an hour fires; a success or its removal resolves the alert', async () => {
  const made = await setUp({ connect: false })
  const { world, clock } = made
  const second = await world.secondApp('http://127.0.0.1:9/second')
  await execute(made, `UPDATE apps SET webhook_url = 'http://127.0.0.1:9/first'`)
  await made.check()
  let count = 0
  const attempt = (targetId: string, outcome: 'success' | 'timeout') =>
    endDeliveries(world, [
      { messageId: messageIdOf(++count), kind: 'app', targetId, outcome, attemptedAt: clock.now() },
    ])
  const beganAt = clock.now()
  for (let quarter = 0; quarter < 4; quarter++) {
    await attempt(world.app.appId, 'timeout')
    await attempt(second.appId, quarter === 2 ? 'success' : 'timeout')
    expect(await made.check()).toEqual([])
    restart(made)
    clock.advance(15 * MINUTE)
  }
  expect(await made.check(2)).toMatchObject([
    {
      alert: 'webhook_failing',
      state: 'firing',
      since: new Date(beganAt).toISOString(),
      text: expect.stringContaining(`sgw webhooks list --app ${world.app.appId} shows`),
      detail: { appId: world.app.appId, tenantId: world.tenantId, failedAttempts: 4 },
    },
  ])
  await attempt(world.app.appId, 'success')
  expect(await made.check()).toMatchObject([
    { alert: 'webhook_failing', state: 'resolved', since: new Date(beganAt).toISOString() },
  ])
  // The second app keeps failing until its address is removed.
  await attempt(second.appId, 'timeout')
  clock.advance(60 * MINUTE)
  expect(await made.check()).toMatchObject([{ state: 'firing', detail: { appId: second.appId } }])
  await execute(made, 'UPDATE apps SET webhook_url = NULL')
  expect(await made.check()).toMatchObject([{ state: 'resolved', detail: { appId: second.appId } }])
})

/** Lets each trigger fail twice. */
async function failTwice({ world, clock }: AlertSetup): Promise<void> {
  const { rows } = await world.gateway.database.gate.execute('SELECT id, tenant_id FROM triggers')
  const attempts = rows.flatMap((row) =>
    [1, 2].map((attemptNumber) => ({
      messageId: messageIdOf(1),
      kind: 'trigger' as const,
      targetId: String(row['id']),
      tenantId: String(row['tenant_id']),
      outcome: 'timeout' as const,
      attemptedAt: clock.now(),
      attemptNumber,
    })),
  )
  await endDeliveries(world, attempts)
}

test('a thousand failing destinations of one tenant do not delay alerts that concern all tenants', async () => {
  const made = await setUp({ connect: false })
  const { world, clock } = made
  const triggers = `WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1099)
    INSERT INTO triggers (id, tenant_id, callback_url, secret, created_at)
    SELECT 'trg_' || i, '${world.tenantId}', 'http://127.0.0.1:9/', '', 0 FROM n`
  await execute(made, triggers)
  await made.check()
  await failTwice(made)
  clock.advance(60 * MINUTE)
  const first = await made.check()
  expect(first.length).toBeLessThanOrEqual(10)
  await execute(
    made,
    `INSERT INTO jobs (id, kind, lane, tenant_id, subject, created_at) VALUES ('job_1', 'send', '', '', 'msg_1', 0)`,
  )
  expect(await made.check()).toContainEqual(expect.objectContaining({ alert: 'queue_old' }))
})

test('an outage for many destinations is few alerts of each tenant, so that none hides another', async () => {
  const made = await setUp({ connect: false })
  const { world, clock } = made
  await execute(
    made,
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 599)
    INSERT INTO triggers (id, tenant_id, callback_url, secret, created_at)
    SELECT 'trg_' || i, 'tenant_' || (i / 550), 'http://127.0.0.1:9/', '', 0 FROM n`,
  )
  await made.check()
  await failTwice(made)
  clock.advance(60 * MINUTE)
  await made.check()
  const { rows } = await world.gateway.database.gate
    .execute(`SELECT fired.value ->> '$.detail.tenantId' AS tenant_id, count(*) AS count
    FROM facts, json_each(facts.value, '$.firing') AS fired WHERE name = 'alerts' GROUP BY 1`)
  expect(rows).toEqual([
    { tenant_id: 'tenant_0', count: 20 },
    { tenant_id: 'tenant_1', count: 20 },
  ])
})

test('failures from before the first check count', async () => {
  const made = await setUp({ connect: false })
  const { world, clock } = made
  await execute(made, `UPDATE apps SET webhook_url = 'http://127.0.0.1:9/first'`)
  const beganAt = clock.now()
  const failed = { kind: 'app', targetId: world.app.appId, outcome: 'timeout', attemptedAt: beganAt } as const
  await endDeliveries(world, [
    { ...failed, messageId: messageIdOf(1) },
    { ...failed, messageId: messageIdOf(2) },
  ])
  clock.advance(60 * MINUTE)
  expect(await made.check()).toMatchObject([
    { alert: 'webhook_failing', state: 'firing', since: new Date(beganAt).toISOString() },
  ])
})

test('a single failed attempt does not fire', async () => {
  const made = await setUp({ connect: false })
  await execute(made, `UPDATE apps SET webhook_url = 'http://127.0.0.1:9/first'`)
  await made.check()
  await endDeliveries(made.world, [
    {
      messageId: messageIdOf(1),
      kind: 'app',
      targetId: made.world.app.appId,
      outcome: 'timeout',
      attemptedAt: made.clock.now(),
    },
  ])
  made.clock.advance(120 * MINUTE)
  expect(await made.check()).toEqual([])
})

test('a failed post is retried by the policy `short`; the resolution is posted after it', async () => {
  const made = await setUp()
  made.receiver.answer = () => new Response('', { status: 500 })
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  expect(await made.check(2)).toHaveLength(1)
  await execute(made, `UPDATE extensions SET status = 'active'`)
  for (const ms of [5000, 30_000, 2 * MINUTE, 10 * MINUTE]) {
    made.clock.advance(ms - 1)
    expect(await made.check(2)).toEqual([])
    restart(made)
    made.clock.advance(1)
    expect(await made.check(2)).toMatchObject([{ state: 'firing' }])
  }
  made.receiver.answer = () => new Response('')
  made.clock.advance(30 * MINUTE)
  expect((await made.check(3)).map(({ state }) => state)).toEqual(['firing', 'resolved'])
  made.clock.advance(24 * 60 * MINUTE)
  expect(await made.check(2)).toEqual([])
})

test('a post is given up after six attempts', async () => {
  const made = await setUp()
  made.receiver.answer = () => new Response('', { status: 500 })
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  for (let attempt = 1; attempt <= 6; attempt++) {
    expect(await made.check(2)).toHaveLength(1)
    made.clock.advance(31 * MINUTE)
  }
  expect(await made.check(2)).toEqual([])
})

test('a post that was under way when the process ended is retried at its time, not at once', async () => {
  const made = await setUp()
  const held = Promise.withResolvers<Response>()
  made.receiver.answer = ({ body }) => (isOfItsOwn(body) ? held.promise : new Response(''))
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  const run = made.alerts.run()
  await made.receiver.received(2)
  restart(made)
  expect(await made.check(2)).toEqual([])
  held.resolve(new Response(''))
  await run
})

test('a post does not wait for a day more if the clock was set back by a day before the start', async () => {
  const made = await setUp()
  made.receiver.answer = () => new Response('down', { status: 500 })
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  expect(await made.check()).toHaveLength(1)
  await execute(
    made,
    `UPDATE facts SET value = json_set(value, '$.posts[1].dueAt', value ->> '$.posts[1].dueAt' + 86400000) WHERE name = 'alerts'`,
  )
  restart(made)
  expect(await made.check()).toEqual([])
  made.clock.advance(5000)
  expect(await made.check()).toHaveLength(1)
})

test('ALERT_URL is checked like the address of a webhook and never logged', async () => {
  const { log, lines } = recordedLog()
  const made = await setUp({ log })
  await execute(made, `UPDATE extensions SET status = 'revoked'`)
  const alerts = new Alerts(made.world.gateway, 'http://169.254.169.254/services/T0/SECRET')
  await alerts.run()
  expect(made.receiver.requests).toEqual([])
  const text = lines.join('\n')
  expect(text).toContain('an alert could not be posted')
  expect(text).not.toMatch(/SECRET|169\.254/)
})

test('a running gateway checks by itself if ALERT_URL is set', async () => {
  const clock = manualClock(Date.now())
  await using receiver = startReceiver()
  await using world = await createWorld({ clock, env: { ALERT_URL: receiver.url } })
  await world.gateway.database.gate.execute(`UPDATE extensions SET status = 'revoked'`)
  await until(() => {
    clock.advance(1000)
    return receiver.requests.length > 1
  })
  expect(receiver.requests.map(({ body }) => body)).toMatchObject([
    { alert: 'no_extension_can_send', state: 'firing' },
    { alert: 'extension_revoked', state: 'firing' },
  ])
})

test('alerts that are read are those of this moment, as the doctor’s findings are, even while a post hangs', async () => {
  const clock = manualClock(Date.now())
  await using receiver = startReceiver()
  receiver.answer = () => new Promise(() => undefined)
  await using world = await createWorld({ clock, env: { ALERT_URL: receiver.url } })
  const setStatus = async (status: string): Promise<void> => {
    await world.gateway.database.gate.execute(`UPDATE extensions SET status = '${status}'`)
    world.gateway.directory.forget(world.tenantId)
  }
  const read = async () => {
    const { alerts } = (await operate<{ alerts: object[] }>(world, 'GET', '/v1/operator/alerts')).body
    const { body } = await operate<Finding[]>(world, 'GET', '/v1/operator/doctor')
    return { alerts: alerts.length, doctor: body.find(({ check }) => check === 'extensions')?.level }
  }
  await setStatus('revoked')
  expect(await read()).toEqual({ alerts: 2, doctor: 'fail' })
  await until(() => {
    clock.advance(1000)
    return receiver.requests.length > 0
  })
  await setStatus('active')
  expect(await read()).toEqual({ alerts: 0, doctor: 'ok' })
})
