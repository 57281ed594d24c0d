import { expect, spyOn, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../../../src/core/limits.ts'
import { purgeMessages } from '../../../src/messages/upkeep/purge-messages.ts'
import { operate } from '../../support/operator.ts'
import { FROM, FROM_2, type World, createWorld, until } from '../../support/world.ts'

const CONTACT = '+15555550177'

/** Returns the app to which an answer of the contact belongs. */
async function appOfAnswer(world: World, contact = CONTACT, to = FROM): Promise<string | undefined> {
  const text = crypto.randomUUID()
  await world.control.injectSms({ from: contact, to, text })
  let found: { body: string; appId: string } | undefined
  await until(async () => {
    const { body } = await world.json<{ messages: { body: string; appId: string }[] }>(
      'GET',
      '/v1/sms/messages?direction=inbound',
    )
    found = body.messages.find((message) => message.body === text)
    return found !== undefined
  })
  return found?.appId
}

async function conversations(world: World): Promise<{ contact: string; at: number }[]> {
  const { rows } = await world.gateway.database.gate.execute(
    'SELECT contact, written_at FROM contact_owners ORDER BY contact',
  )
  return rows.map((row) => ({ contact: String(row['contact']), at: Number(row['written_at']) }))
}

test('answers belong to the app that wrote last, however its message was accepted', async () => {
  await using world = await createWorld()
  const [first, second] = [world.app, await world.secondApp()]
  const headers = (): { headers: Record<string, string> } => ({ headers: { 'idempotency-key': crypto.randomUUID() } })
  await world.send({ to: CONTACT, body: '1' }, { key: second.apiKey })
  expect(await appOfAnswer(world)).toBe(second.appId)
  await world.send({ to: CONTACT, body: '2' })
  expect(await appOfAnswer(world)).toBe(first.appId)
  await world.send({ to: CONTACT, body: '3' }, { key: second.apiKey, ...headers() })
  expect(await appOfAnswer(world)).toBe(second.appId)
  await world.send({ to: CONTACT, body: '4' }, headers())
  expect(await appOfAnswer(world)).toBe(first.appId)
  await world.gateway.jobs.stop()
  await world.send({ to: CONTACT, body: '5' }, { key: second.apiKey })
  expect(await appOfAnswer(world)).toBe(second.appId)
  expect(await appOfAnswer(world, CONTACT, FROM_2)).toBe(first.appId)
  // An inbound message creates no row.
  expect((await conversations(world)).map(({ contact }) => contact)).toEqual([CONTACT])
})

test('the only app of a tenant stores no rows, and keeps its contacts when a second app is created', async () => {
  await using world = await createWorld()
  await world.otherTenant()
  await world.send({ to: CONTACT })
  expect(await conversations(world)).toEqual([])
  const second = await world.secondApp()
  await world.send({ to: '+15555550178' }, { key: second.apiKey })
  expect((await conversations(world)).map(({ contact }) => contact)).toEqual(['+15555550178'])
  expect(await appOfAnswer(world)).toBe(world.app.appId)
})

test('a message of another tenant to the same contact changes nothing', async () => {
  await using world = await createWorld()
  const second = await world.secondApp()
  const stranger = await world.otherTenant()
  await world.send({ to: CONTACT }, { key: second.apiKey })
  const values = `'job_1', '${stranger.tenantId}', 'app_3', 'outbound', '${FROM}', '${CONTACT}', 'x', 'sent', 1, 1`
  await world.gateway.database.gate.batch([
    `INSERT INTO apps (id, tenant_id, name, role, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at)
      VALUES ('app_3', '${stranger.tenantId}', 'Third', 'app', 1, 'h', 'p', 's', 1, 1)`,
    `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
      VALUES ('msg_1', ${values})`,
  ])
  expect(await conversations(world)).toHaveLength(2)
  expect(await appOfAnswer(world)).toBe(second.appId)
})

test('the time of a row is updated if it is more than an hour old, and the row is deleted with the messages', async () => {
  await using world = await createWorld({ env: { MESSAGE_RETENTION_DAYS: '1' } })
  const second = await world.secondApp()
  const { gate } = world.gateway.database
  const setAge = (ms: number): Promise<unknown> =>
    gate.execute({ sql: 'UPDATE contact_owners SET written_at = ?1', args: [world.gateway.clock.now() - ms] })
  const age = async (): Promise<number> => world.gateway.clock.now() - ((await conversations(world))[0]?.at ?? 0)
  await world.send({ to: CONTACT, body: '1' }, { key: second.apiKey })
  await setAge(HOUR_MS / 2)
  await world.send({ to: CONTACT, body: '2' }, { key: second.apiKey })
  expect(await age()).toBeGreaterThanOrEqual(HOUR_MS / 2)
  await setAge(HOUR_MS + 1)
  await world.send({ to: CONTACT, body: '3' }, { key: second.apiKey })
  expect(await age()).toBeLessThan(HOUR_MS / 2)
  await setAge(DAY_MS + HOUR_MS / 2)
  await purgeMessages(world.gateway)
  expect(await conversations(world)).toHaveLength(1)
  await setAge(DAY_MS + HOUR_MS + 1)
  await purgeMessages(world.gateway)
  expect(await conversations(world)).toEqual([])
})

test('old rows are deleted by the thousand, and no row is deleted if messages are kept for ever', async () => {
  const fill = (world: World): Promise<unknown> =>
    world.gateway.database.gate.execute({
      sql: `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2300)
        INSERT INTO contact_owners (contact, number, tenant_id, app_id, written_at)
        SELECT printf('+1555777%04d', n), '${FROM}', 't', 'a', iif(n BETWEEN 31 AND 100 OR n BETWEEN 2079 AND 2082 OR n > 2200, 0, ?1) FROM n`,
      args: [world.gateway.clock.now()],
    })
  await using world = await createWorld({ env: { MESSAGE_RETENTION_DAYS: '1' } })
  await fill(world)
  await purgeMessages(world.gateway)
  expect(await conversations(world)).toHaveLength(2300 - 70 - 4 - 100)
  await using keeping = await createWorld()
  await fill(keeping)
  await purgeMessages(keeping.gateway)
  expect(await conversations(keeping)).toHaveLength(2300)
})

test('an erasure of a contact deletes its rows', async () => {
  await using world = await createWorld()
  const second = await world.secondApp()
  for (const to of [CONTACT, '+15555550178']) await world.untilStatus(await world.send({ to }, { key: second.apiKey }))
  await operate(world, 'POST', '/v1/operator/erase', { phone: CONTACT })
  expect((await conversations(world)).map(({ contact }) => contact)).toEqual(['+15555550178'])
})

test('an erased contact that is still written to answers to the same app', async () => {
  await using world = await createWorld({ work: false })
  const second = await world.secondApp()
  await world.send({ to: CONTACT }, { key: second.apiKey })
  const erase = () => operate(world, 'POST', '/v1/operator/erase', { phone: CONTACT })
  expect(await erase()).toMatchObject({ body: { waiting: 1 } })
  expect(await appOfAnswer(world)).toBe(second.appId)
  await world.gateway.database.gate.execute(`UPDATE messages SET status = 'failed' WHERE status = 'queued'`)
  expect(await erase()).toMatchObject({ body: { waiting: 0 } })
  expect(await conversations(world)).toEqual([])
})

test('an erasure of a formerly connected number deletes its rows', async () => {
  await using world = await createWorld()
  const second = await world.secondApp()
  await world.untilStatus(await world.send({ to: CONTACT }, { key: second.apiKey }))
  await world.gateway.database.gate.execute('DELETE FROM phone_numbers')
  await operate(world, 'POST', '/v1/operator/erase', { phone: FROM })
  expect(await conversations(world)).toEqual([])
})

test('a deactivated app keeps its contacts', async () => {
  await using world = await createWorld()
  const [first, second] = [world.app, await world.secondApp()]
  await world.send({ to: CONTACT, body: '1' }, { key: second.apiKey })
  await world.call('DELETE', `/v1/apps/${second.appId}`, { key: second.apiKey })
  expect(await appOfAnswer(world)).toBe(second.appId)
  await world.send({ to: CONTACT, body: '2' })
  expect(await appOfAnswer(world)).toBe(first.appId)
  const third = await world.secondApp()
  await world.gateway.database.gate.execute({
    sql: 'UPDATE apps SET is_active = 0 WHERE id = ?1',
    args: [first.appId],
  })
  expect(await appOfAnswer(world, '+15555550178')).toBe(first.appId)
  expect(third.appId).not.toBe(first.appId)
})

test('the oldest app is the one that was created first, even if the clock was wrong', async () => {
  await using world = await createWorld()
  const second = await world.secondApp()
  await world.gateway.database.gate.execute({
    sql: 'UPDATE apps SET created_at = 1 WHERE id = ?1',
    args: [second.appId],
  })
  expect(await appOfAnswer(world)).toBe(world.app.appId)
})

test('rows of other tenants are not read', async () => {
  await using world = await createWorld()
  await world.secondApp()
  const row = (tenant: string): string =>
    `INSERT INTO contact_owners (contact, number, tenant_id, app_id, written_at) VALUES ('${CONTACT}', '${FROM}', '${tenant}', 'app_x', 1)`
  await world.gateway.database.gate.batch([row('tenant_0'), row('tenant_g')])
  expect(await appOfAnswer(world)).toBe(world.app.appId)
})

test('a row that is updated during the purge is kept', async () => {
  await using world = await createWorld({ env: { MESSAGE_RETENTION_DAYS: '1' } })
  const { gate, writer } = world.gateway.database
  await gate.execute(
    `INSERT INTO contact_owners (contact, number, tenant_id, app_id, written_at) VALUES ('${CONTACT}', '${FROM}', 't', 'a', 1)`,
  )
  const real = writer.write.bind(writer)
  spyOn(writer, 'write').mockImplementation(async (statements) => {
    await gate.execute({ sql: 'UPDATE contact_owners SET written_at = ?1', args: [world.gateway.clock.now()] })
    return real(statements)
  })
  await purgeMessages(world.gateway)
  expect(await conversations(world)).toHaveLength(1)
})
