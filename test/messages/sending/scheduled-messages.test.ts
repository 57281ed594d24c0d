import { expect, spyOn, test } from 'bun:test'
import { cancel } from '../../../src/api/sms/cancel.ts'
import { openRestoreMark } from '../../../src/db/restore-mark.ts'
import { IS_QUARANTINED } from '../../../src/messages/sending/quarantine.ts'
import { confirmClock } from '../../support/confirmed-clock.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { startServer, temporaryFolder } from '../../support/process.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

const HOUR_MS = 3_600_000

const texts = (world: World): (string | null)[] =>
  world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)

const JOBS = `SELECT kind, ${IS_QUARANTINED} AS is_quarantined FROM jobs WHERE kind IN ('send', 'schedule') ORDER BY seq`

const jobs = async ({ gateway }: World): Promise<unknown[]> =>
  (await gateway.database.gate.execute(JOBS)).rows.map(
    ({ kind, is_quarantined }) => `${String(kind)} ${String(is_quarantined)}`,
  )

test('scheduled messages survive a restart, and those that are due are sent in the order of their times', async () => {
  const clock = manualClock()
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString()
  await using first = await createWorld({ clock })
  const { folder, tenantId, key } = first
  await first.send({ body: 'second', sendAt: at(2 * HOUR_MS) })
  await first.send({ body: 'first', sendAt: at(HOUR_MS) })
  const future = await first.send({ body: 'third', sendAt: at(4 * HOUR_MS) })
  await first.running.stop()
  clock.advance(3 * HOUR_MS)
  await using second = await createWorld({ clock, folder, connect: false, work: false })
  // Nothing is due before the provider has confirmed the clock.
  expect(await jobs(second)).toEqual(['schedule 0', 'schedule 0', 'schedule 0'])
  expect((await second.connect({ tenantId })).status).toBe(200)
  second.running.work()
  await until(() => texts(second).length === 2)
  expect(texts(second)).toEqual(['first', 'second'])
  expect(await second.status(future, { key })).toMatchObject({ status: 'queued' })
  clock.advance(HOUR_MS)
  await until(() => texts(second).length === 3)
})

test('a scheduled message whose time passed too long ago expires', async () => {
  const clock = manualClock()
  await using first = await createWorld({ clock })
  const { folder, key } = first
  const id = await first.send({ sendAt: new Date(clock.now() + HOUR_MS).toISOString() })
  await first.running.stop()
  clock.advance(26 * HOUR_MS)
  await using second = await createWorld({ clock, folder, connect: false })
  confirmClock(second)
  clock.advance(1000)
  await until(async () => (await jobs(second)).includes('send 0'))
  clock.advance(5000)
  const state = await second.untilStatus(id, ['failed'], 5000, { key })
  expect(state).toMatchObject({ error: 'Message expired before it could be sent' })
})

test('after a restore, scheduled messages are looked up first if they may have been sent', async () => {
  const clock = manualClock()
  const at = (ms: number): string => new Date(clock.now() + ms).toISOString()
  await using first = await createWorld({ clock, work: false })
  const { folder, tenantId, key } = first
  const due = await first.send({ body: 'due', sendAt: at(HOUR_MS) })
  const future = await first.send({ body: 'future', sendAt: at(9 * HOUR_MS) })
  await first.running.stop()
  clock.advance(2 * HOUR_MS)
  // A database without its mark counts as restored from a copy.
  await Bun.file(`${folder}/sgw.db.mark`).delete()
  await using second = await createWorld({
    clock,
    folder,
    connect: false,
    work: false,
    env: { RECONCILE_SETTLE: '1s' },
  })
  expect(await jobs(second)).toEqual(['schedule 1', 'schedule 0'])
  expect((await second.connect({ tenantId })).status).toBe(200)
  second.running.work()
  clock.advance(500)
  expect(await second.status(due, { key })).toMatchObject({ status: 'queued' })
  await until(() => (clock.advance(1000), texts(second).length === 1))
  clock.advance(8 * HOUR_MS)
  await until(() => texts(second).length === 2)
  expect(texts(second)).toEqual(['due', 'future'])
  expect(await second.untilStatus(future, ['sent'], 5000, { key })).toMatchObject({ status: 'sent' })
})

test('after a restore, a message that is due within an hour is quarantined, too', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false, connect: false })
  await world.send({ sendAt: new Date(clock.now() + HOUR_MS).toISOString() })
  await world.send({ sendAt: new Date(clock.now() + HOUR_MS + 1).toISOString() })
  const other = `${world.folder}/other.mark`
  const { restoreMark: mark, restored } = await openRestoreMark(world.gateway.database, other, {
    incarnation: 'boot_2',
    now: clock.now(),
  })
  mark.close()
  expect([restored, ...(await jobs(world))]).toEqual([true, 'schedule 1', 'schedule 0'])
})

/** Lets what a timer has begun end, so that the next timer is set. */
async function settle({ gateway }: World): Promise<void> {
  for (let step = 0; step < 5; step++) await gateway.database.gate.execute('SELECT 1')
}

test.each([
  ['back by an hour and forward again', [-HOUR_MS]],
  ['forward by a minute, back by an hour and forward again', [59_000, -HOUR_MS]],
])(
  'if the clock jumps %s, a message whose time has passed meanwhile leaves within two seconds',
  async (_name, jumps) => {
    const steady = manualClock()
    let aheadMs = 0
    const clock = { ...steady, now: () => steady.now() + aheadMs }
    await using world = await createWorld({ clock })
    await world.send({ body: 'scheduled', sendAt: new Date(clock.now() + 40_000).toISOString() })
    const letPass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1000)
        await settle(world)
      }
    }
    for (const jumpMs of jumps) {
      aheadMs = jumpMs
      await letPass(jumpMs > 0 ? 5 : 42)
      expect(await jobs(world)).toEqual(['schedule 0'])
    }
    aheadMs = 0
    await letPass(2)
    await until(() => texts(world).length === 1)
  },
)

test('a suspended tenant’s scheduled message is held', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const id = await world.send({ sendAt: new Date(clock.now() + 60_000).toISOString() })
  await world.gateway.database.gate.execute(`UPDATE tenants SET status = 'suspended'`)
  world.gateway.directory.forget(world.tenantId)
  clock.advance(60_000)
  await until(async () => (await jobs(world)).includes('send 0'))
  expect(texts(world)).toEqual([])
  const { rows } = await world.gateway.database.gate.execute(`SELECT id, status FROM messages`)
  expect(rows).toMatchObject([{ id, status: 'queued' }])
})

test('after kill -9 no scheduled message is lost or sent before its time', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database, KEY_LIMIT_PER_MINUTE: '100000' }
  let key = ''
  const call = async (url: string, method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const authorization = `Bearer ${key}`
    const init = { method, headers: { authorization }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return (await (await fetch(`${url}${path}`, init)).json()) as Record<string, unknown>
  }
  await using first = await startServer(env)
  await first.printed(/limit=1/)
  key = (await first.printed(/sgw_[\w-]{43}/))[0]
  const sendAt = new Date(Date.now() + 1500).toISOString()
  const { messageId } = await call(first.url, 'POST', '/v1/sms/send', { from: FROM, to: TO, body: 'Hello', sendAt })
  first.kill('SIGKILL')
  await first.ended()
  await using second = await startServer(env)
  const state = await until(async () => {
    const now = await call(second.url, 'GET', `/v1/sms/status/${String(messageId)}`)
    return now['status'] === 'sent' ? now : null
  })
  expect(Date.parse(String(state['updatedAt']))).toBeGreaterThanOrEqual(Date.parse(sendAt))
})

test('many messages of one tenant that are due at once do not delay those of another tenant', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const { gateway, tenantId } = world
  const { gate } = gateway.database
  const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
    INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, send_at, created_at, updated_at)
    SELECT 'msg_' || i, 'job_' || i, iif(i > 1000, 'tenant_other', ?1), 'app_1', 'outbound', ?2, ?3, 'Hi', 'queued', i, 0, 0 FROM n`
  await gate.execute({ sql: many, args: [tenantId, FROM, TO] })
  await gate.execute(`INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
    SELECT job_id, 'schedule', id, tenant_id, id, send_at, 0 FROM messages`)
  confirmClock(world)
  await gateway.sending.scheduled.enterDue()
  const { rows } = await gate.execute(`SELECT subject, tenant_id FROM jobs WHERE kind = 'send' ORDER BY seq`)
  expect(rows).toHaveLength(1001)
  expect(rows.findIndex(({ tenant_id: id }) => id === 'tenant_other')).toBeLessThan(200)
  const own = rows.filter(({ tenant_id: id }) => id === tenantId).map(({ subject }) => subject)
  expect(own).toEqual(Array.from({ length: 1000 }, (_, index) => `msg_${index + 1}`))
})

/** Schedules messages of several tenants that are due. The tenants share one database. */
async function storeDue({ gateway }: World, tenants: number, perTenant: number): Promise<void> {
  const { gate } = gateway.database
  await gate.execute({
    sql: `WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < ?1),
        n(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM n WHERE j < ?2)
      INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, send_at, created_at, updated_at)
      SELECT 'msg_' || i || '_' || j, 'job_1', 'tenant_' || i, 'app_1', 'outbound', ?3, ?4, 'Hi', 'queued', j, 0, 0 FROM t, n`,
    args: [tenants, perTenant, FROM, TO],
  })
  await gate.execute(`INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
    SELECT job_id, 'schedule', id, tenant_id, id, send_at, 0 FROM messages`)
}

test('messages of very many tenants that are due at once enter their lines in small commits', async () => {
  await using world = await createWorld({ clock: manualClock(), connect: false, work: false })
  const { gate } = world.gateway.database
  await storeDue(world, 60, 10)
  const batch = spyOn(gate, 'batch')
  confirmClock(world)
  await world.gateway.sending.scheduled.enterDue()
  const statements = batch.mock.calls.flatMap(([given]) => given as { sql: string; args: string[] }[])
  batch.mockRestore()
  const sizes = statements.map(({ args }) => (JSON.parse(args[0] ?? '[]') as unknown[]).length)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100)
  const { rows } = await gate.execute(`SELECT subject, tenant_id FROM jobs WHERE kind = 'send' ORDER BY seq`)
  expect(rows).toHaveLength(600)
  const own = rows.filter((row) => row['tenant_id'] === 'tenant_7').map(({ subject }) => subject)
  expect(own).toEqual(Array.from({ length: 10 }, (_, index) => `msg_7_${index + 1}`))
  // The commits take the same time, however many messages are scheduled.
  const plans = await Promise.all(
    [...new Set(statements.map(({ sql }) => sql))].map(async (sql) => {
      const plan = await gate.execute({
        sql: `EXPLAIN QUERY PLAN ${sql}`,
        args: ['[]', 0].slice(0, sql.includes('?2') ? 2 : 1),
      })
      return plan.rows.map((row) => String(row['detail'])).join()
    }),
  )
  for (const plan of plans) expect(plan).not.toContain('(kind=?)')
})

test('a start waits a second for messages that are due, however many there are, and the rest follow', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const { gateway } = world
  const { gate } = gateway.database
  await storeDue(world, 1, 1000)
  const take = gate.batch
  const batch = spyOn(gate, 'batch').mockImplementation((statements) => (clock.advance(200), take(statements)))
  confirmClock(world)
  await gateway.sending.scheduled.enterDue()
  expect((await jobs(world)).filter((job) => job === 'send 0')).toHaveLength(350)
  while ((await jobs(world)).includes('schedule 0')) await gateway.sending.scheduled.enterDue()
  batch.mockRestore()
  const { rows } = await gate.execute(`SELECT subject FROM jobs WHERE kind = 'send' ORDER BY seq`)
  expect(rows.map(({ subject }) => subject)).toEqual(Array.from({ length: 1000 }, (_, index) => `msg_1_${index + 1}`))
})

test('a message that is cancelled in the commit that brings it into its line leaves no job', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const { gateway, tenantId } = world
  const { writer } = gateway.database
  const id = await world.send({ sendAt: new Date(clock.now() + HOUR_MS).toISOString() })
  clock.advance(HOUR_MS)
  let cancelled: Promise<unknown> = Promise.resolve()
  const { write } = writer
  writer.write = (statements) => {
    const written = write(statements)
    writer.write = write
    cancelled = cancel(gateway, { tenantId }, id)
    return written
  }
  confirmClock(world)
  await gateway.sending.scheduled.enterDue()
  expect(await cancelled).toEqual({ ok: true })
  expect(await world.status(id)).toMatchObject({ status: 'failed', error: 'Cancelled before sending' })
  expect(await jobs(world)).toEqual([])
})

test('the job of a deleted message is deleted when it is due', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gate } = world.gateway.database
  await gate.execute(`INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
    VALUES ('job_1', 'schedule', 'msg_1', '${world.tenantId}', 'msg_1', 1, 0)`)
  confirmClock(world)
  await world.gateway.sending.scheduled.enterDue()
  expect(await jobs(world)).toEqual([])
})
