import { expect, test } from 'bun:test'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deleteMessages } from '../../../src/features/sms/delete-messages.ts'
import { BEGIN } from '../../../src/features/sms/first-attempt-rows.ts'
import { send } from '../../../src/features/sms/send.ts'
import { readStatus } from '../../../src/operator/status.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { WARM_UP, readyWorld } from '../../support/ready-world.ts'
import { FROM, type World, createWorld, until } from '../../support/world.ts'

// A first attempt that begins with its message is nothing but the message's row until it ends otherwise than as sent.

async function rowsOf(world: World, sql: string): Promise<Record<string, unknown>[]> {
  return (await world.gateway.database.gate.execute(sql)).rows.map((row) => ({ ...row }))
}

const rowsBeside = (world: World): Promise<Record<string, unknown>[]> =>
  rowsOf(world, 'SELECT (SELECT count(*) FROM jobs) AS jobs, (SELECT count(*) FROM send_attempts) AS attempts')

const textsAtProvider = (world: World): string[] =>
  world.control
    .messages({ direction: 'Outbound' })
    .map(({ text }) => text ?? '')
    .filter((text) => !text.startsWith(WARM_UP))

/** Some 50 ms of ten thousand a second. */
const IN_A_BREATH = 500

test('has no rows beside its message, and is counted as open while it is', async () => {
  await using world = await readyWorld()
  world.control.fault({ route: 'sms', fault: { kind: 'delay', ms: 300 } })
  const id = await world.send()
  expect((await world.status(id))['status']).toBe('sending')
  expect(await rowsBeside(world)).toEqual([{ jobs: 0, attempts: 0 }])
  expect((await readStatus(world.gateway)).queue).toMatchObject({ send: 0, openAttempts: 1 })
  expect((await world.untilStatus(id))['status']).toBe('sent')
  expect(await rowsBeside(world)).toEqual([{ jobs: 0, attempts: 0 }])
  expect((await readStatus(world.gateway)).queue['openAttempts']).toBe(0)
  expect(world.gateway.firstAttempts.running.size).toBe(0)
})

test('begins with its message for as long as a provider that is quick otherwise holds its breath', async () => {
  const limits = { KEY_LIMIT_PER_MINUTE: '1000', FROM_LIMIT_PER_MINUTE: '1000', EXTENSION_LIMIT_PER_MINUTE: '1000' }
  await using world = await readyWorld({ clock: manualClock(), env: limits })
  world.control.setLimits({ enabled: false })
  const { provider } = world.gateway
  const breath = Promise.withResolvers<void>()
  const call = provider.sendSms
  provider.sendSms = async (token, message) => {
    await breath.promise
    return call(token, message)
  }
  await Promise.all(Array.from({ length: IN_A_BREATH }, (_, n) => world.send({ body: `text ${n}` })))
  expect(await rowsBeside(world)).toEqual([{ jobs: 0, attempts: 0 }])
  breath.resolve()
  await until(async () => (await rowsOf(world, "SELECT 1 FROM messages WHERE status = 'sent'")).length === IN_A_BREATH)
})

test('that is rejected leaves what the provider said', async () => {
  await using world = await readyWorld()
  world.control.fault({
    route: 'sms',
    fault: { kind: 'respond', status: 400, body: { errorCode: 'MSG-245', message: 'No such number' } },
  })
  expect((await world.untilStatus(await world.send()))['status']).toBe('failed')
  expect(await rowsOf(world, 'SELECT number, outcome, http_status, code FROM send_attempts')).toEqual([
    { number: 1, outcome: 'rejected', http_status: 400, code: 'MSG-245' },
  ])
  expect(await rowsOf(world, 'SELECT first_attempt_extension_id FROM messages')).toEqual([
    { first_attempt_extension_id: null },
  ])
})

test('that is not taken is tried again by a job', async () => {
  await using world = await readyWorld()
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '1' } } })
  const id = await world.send()
  await until(async () => (await rowsOf(world, "SELECT 1 FROM jobs WHERE kind = 'send'")).length === 1)
  expect((await world.untilStatus(id))['status']).toBe('sent')
  expect(await rowsOf(world, 'SELECT number, outcome FROM send_attempts ORDER BY seq')).toEqual([
    { number: 1, outcome: 'not_accepted' },
    { number: 2, outcome: 'accepted' },
  ])
})

test('keeps an equal text back: also one that waits for its turn', async () => {
  await using world = await readyWorld()
  world.control.fault({ route: 'sms', fault: { kind: 'delay', ms: 1500 } })
  const first = await world.send({ body: 'twice' })
  const others = await Promise.all([
    world.send({ body: 'twice' }),
    world.send({ body: 'twice' }, { headers: { 'Idempotency-Key': 'one' } }),
  ])
  for (let look = 0; look < 3; look++) {
    for (const id of others) expect((await world.status(id))['status']).toBe('queued')
    expect((await world.status(first))['status']).toBe('sending')
    await Bun.sleep(200)
  }
  for (const id of [first, ...others]) expect((await world.untilStatus(id, ['sent'], 9000))['status']).toBe('sent')
  expect(textsAtProvider(world)).toEqual(['twice', 'twice', 'twice'])
}, 20_000)

test('does not begin beside an equal text of unknown outcome', async () => {
  await using world = await readyWorld({ env: { RECONCILE_SETTLE: '1s' } })
  world.control.fault({ route: 'sms', fault: { kind: 'accept-then-reset' } })
  const first = await world.send({ body: 'twice' })
  await until(async () => (await rowsOf(world, "SELECT 1 FROM jobs WHERE kind = 'settle'")).length === 1)
  const second = await world.send({ body: 'twice' })
  expect((await world.status(second))['status']).toBe('queued')
  for (const id of [first, second]) expect((await world.untilStatus(id, ['sent'], 9000))['status']).toBe('sent')
  expect(textsAtProvider(world)).toEqual(['twice', 'twice'])
}, 20_000)

test('whose commit was done although it failed is found within a minute, and goes out once', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock, env: { RECONCILE_SETTLE: '1s' } })
  const { writer } = world.gateway.database
  const row = writer.row.bind(writer)
  writer.row = async (operation, value) => {
    const answer = await row(operation, value)
    if ((operation as unknown) === BEGIN) {
      writer.row = row
      throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
    }
    return answer
  }
  const body = { from: FROM, to: '+15555550199', body: 'stored all the same' }
  expect((await world.call('POST', '/v1/sms/send', { body })).status).toBe(503)
  const [stored] = await rowsOf(world, 'SELECT id, status FROM messages')
  expect(stored?.['status']).toBe('sending')
  const id = String(stored?.['id'])
  await until(async () => {
    clock.advance(5000)
    return (await world.status(id))['status'] !== 'sending'
  })
  expect((await world.status(id))['status']).toBe('sent')
  expect(textsAtProvider(world)).toEqual(['stored all the same'])
})

test('counts in the windows of its number and extension after a restart', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock, env: { FROM_LIMIT_PER_MINUTE: '3' } })
  for (const body of ['one', 'two']) await world.untilStatus(await world.send({ body }))
  expect(await rowsBeside(world)).toEqual([{ jobs: 0, attempts: 0 }])
  await world.running.stop()
  await using again = await createWorld({
    clock,
    folder: world.folder,
    connect: false,
    work: false,
    env: { FROM_LIMIT_PER_MINUTE: '3' },
  })
  expect(again.gateway.quota.fromRoom(FROM).jobs).toBe(1)
})

/** When the gateway says that its database was restored, after a restart. */
async function restoredAfterRestart(world: World): Promise<unknown> {
  await world.running.stop()
  await using again = await createWorld({ folder: world.folder, connect: false, work: false })
  return (await readStatus(again.gateway)).backup.restoredAt
}

/** The numbers of the mark beside the database: all attempts, deliveries, attempts that began with their message. */
const markOf = (world: World): number[] =>
  readFileSync(join(world.folder, 'sgw.db.mark'), 'utf8').trim().split(' ').slice(1).map(Number)

const copyDatabase = (world: World): Promise<unknown> =>
  world.gateway.database.gate.execute({ sql: 'VACUUM INTO ?1', args: [join(world.folder, 'copy.db')] })

/** Puts the copy in the database's place; the mark stays. */
async function restoreCopy(world: World): Promise<void> {
  await world.running.stop()
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(world.folder, `sgw.db${suffix}`), { force: true })
  renameSync(join(world.folder, 'copy.db'), join(world.folder, 'sgw.db'))
}

test('tells a database that was restored', async () => {
  await using world = await readyWorld()
  await copyDatabase(world)
  await world.untilStatus(await world.send())
  expect(await rowsBeside(world)).toEqual([{ jobs: 0, attempts: 0 }])
  await restoreCopy(world)
  expect(await restoredAfterRestart(world)).not.toBeNull()
})

test('leaves a database that went on as it is', async () => {
  await using world = await readyWorld()
  await world.untilStatus(await world.send())
  expect(await restoredAfterRestart(world)).toBeNull()
})

test('that was refused for an equal text hides no later attempt from the mark', async () => {
  await using world = await readyWorld()
  world.control.fault({ route: 'sms', fault: { kind: 'delay', ms: 500 } })
  const ids = [await world.send({ body: 'twice' }), await world.send({ body: 'twice' })]
  await copyDatabase(world)
  for (const id of ids) expect((await world.untilStatus(id, ['sent'], 9000))['status']).toBe('sent')
  await restoreCopy(world)
  expect(await restoredAfterRestart(world)).not.toBeNull()
}, 20_000)

test('is in the mark before the provider is called', async () => {
  await using world = await readyWorld()
  const { provider } = world.gateway
  const sendSms = provider.sendSms
  let marked: number[] = []
  provider.sendSms = (token, message) => {
    marked = markOf(world)
    return sendSms(token, message)
  }
  const before = markOf(world)
  await world.untilStatus(await world.send())
  expect(marked[2]).toBe((before[2] ?? NaN) + 1)
  expect(marked[0]).toBe((before[0] ?? NaN) + 1)
})

test('is none of a mark that a release without them has left', async () => {
  await using world = await createWorld()
  const mark = join(world.folder, 'sgw.db.mark')
  await world.running.stop()
  writeFileSync(mark, `${readFileSync(mark, 'utf8').trim().split(' ').slice(0, 3).join(' ')}\n`)
  expect(await restoredAfterRestart(world)).toBeNull()
})

for (const [what, sql] of [
  ['tenant', "UPDATE tenants SET status = 'suspended'"],
  ['extension', "UPDATE extensions SET status = 'revoked'"],
] as const) {
  test(`does not begin when its ${what} has just been stopped`, async () => {
    await using world = await readyWorld()
    await world.gateway.database.gate.execute(sql)
    const { messageId } = await send(
      world.gateway,
      { tenantId: world.tenantId, appId: world.app.appId },
      { from: FROM, to: '+15555550199', body: 'Hello', userId: null },
      null,
    )
    const [row] = await rowsOf(world, `SELECT first_attempt_extension_id FROM messages WHERE id = '${messageId}'`)
    expect(row).toEqual({ first_attempt_extension_id: null })
    expect(textsAtProvider(world)).toEqual([])
  })
}

test('counts in the windows after a restart although the clock was behind when it began', async () => {
  const steady = manualClock()
  let offMs = 0
  const clock = { ...steady, now: () => steady.now() + offMs }
  const env = { FROM_LIMIT_PER_MINUTE: '3' }
  await using world = await readyWorld({ clock, env })
  offMs = -120_000
  for (const body of ['one', 'two', 'three']) await world.untilStatus(await world.send({ body }))
  offMs = 0
  await world.running.stop()
  await using again = await createWorld({ clock, folder: world.folder, connect: false, work: false, env })
  expect(again.gateway.quota.fromRoom(FROM).jobs).toBe(0)
})

/** Messages of that minute that were never tried. */
const laterMessages = (world: World, count: number): Promise<unknown> =>
  world.gateway.database.gate
    .execute(`INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT 'msg_later' || n, 'job_' || n, '${world.tenantId}', '', 'inbound', '+15550001111', '${FROM}', 'x', 'received', 1, 1 FROM numbers`)

test('counts in the windows after a restart however many messages came after it', async () => {
  const env = { FROM_LIMIT_PER_MINUTE: '3' }
  await using world = await readyWorld({ env })
  for (const body of ['one', 'two', 'three']) await world.untilStatus(await world.send({ body }))
  await laterMessages(world, 110_000)
  await world.running.stop()
  await using again = await createWorld({ folder: world.folder, connect: false, work: false, env })
  expect(again.gateway.quota.fromRoom(FROM).jobs).toBe(0)
})

test('a start looks at what came after those that no window counts any more, also where the newest were erased', async () => {
  const clock = manualClock()
  const env = { FROM_LIMIT_PER_MINUTE: '3' }
  await using world = await readyWorld({ clock, env })
  const bound = async (): Promise<[number, number]> => {
    const sql = `SELECT CAST(value AS INTEGER) AS bound, (SELECT max(seq) FROM messages) AS newest FROM facts WHERE name = 'windows_after'`
    const [row] = await rowsOf(world, sql)
    return [Number(row?.['bound']), Number(row?.['newest'])]
  }
  const untilBound = async (expected: number): Promise<void> => {
    await until(async () => {
      clock.advance(61_000)
      return (await bound())[0] === expected
    })
  }
  const ids = []
  for (const body of ['one', 'two']) ids.push(await world.untilStatus(await world.send({ body })))
  expect(await bound()).toEqual([0, 2])
  await untilBound(2)
  await deleteMessages(world.gateway, [String(ids.at(-1)?.['messageId'])])
  expect(await bound()).toEqual([1, 1])
  for (const body of ['three', 'four', 'five']) await world.untilStatus(await world.send({ body }))
  await world.running.stop()
  await using again = await createWorld({ clock, folder: world.folder, connect: false, work: false, env })
  expect(again.gateway.quota.fromRoom(FROM).jobs).toBe(0)
})

test('a start knows those whose `seq` is one of a message that was erased within the minute', async () => {
  const clock = manualClock()
  const env = { FROM_LIMIT_PER_MINUTE: '3' }
  await using world = await readyWorld({ clock, env })
  const fact = async (name: string): Promise<number> =>
    Number((await rowsOf(world, `SELECT value FROM facts WHERE name = '${name}'`))[0]?.['value'])
  await laterMessages(world, 15)
  await until(async () => {
    clock.advance(61_000)
    return (await fact('windows_next')) === 15
  })
  const newest = await rowsOf(world, 'SELECT id FROM messages WHERE seq > 10')
  await deleteMessages(
    world.gateway,
    newest.map(({ id }) => String(id)),
  )
  expect(await fact('windows_next')).toBe(10)
  clock.advance(40_000)
  for (const body of ['one', 'two', 'three']) await world.untilStatus(await world.send({ body }))
  // The next look takes what the last one noted.
  await until(async () => {
    clock.advance(5000)
    return (await fact('windows_next')) === 13
  })
  await world.running.stop()
  await using again = await createWorld({ clock, folder: world.folder, connect: false, work: false, env })
  expect(again.gateway.quota.fromRoom(FROM).jobs).toBe(0)
})

test('counts in the windows after a restart although the clock was behind when the process began', async () => {
  const clock = manualClock()
  const behind = { ...clock, steady: () => clock.steady() - 3_600_000 }
  const env = { FROM_LIMIT_PER_MINUTE: '3' }
  await using world = await readyWorld({ clock: behind, env })
  for (const body of ['one', 'two', 'three']) await world.untilStatus(await world.send({ body }))
  await world.running.stop()
  await using again = await createWorld({ clock, folder: world.folder, connect: false, work: false, env })
  expect(again.gateway.quota.fromRoom(FROM).jobs).toBe(0)
})

test('tells after a restart that the clock was set back, so that a pause is not believed for an hour', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  await world.untilStatus(await world.send())
  expect(await rowsBeside(world)).toEqual([{ jobs: 0, attempts: 0 }])
  const pause = `UPDATE extensions SET paused_until = ${clock.now() + 30_000} RETURNING extension_id`
  const [extension] = await rowsOf(world, pause)
  await world.running.stop()
  const behind = { ...clock, now: () => clock.now() - 3_600_000, steady: () => clock.steady() - 3_600_000 }
  await using again = await createWorld({ clock: behind, folder: world.folder, connect: false, work: false })
  expect(again.gateway.quota.pauseMs(String(extension?.['extension_id']), 'medium')).toBe(60_000)
})
