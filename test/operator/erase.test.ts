import { expect, spyOn, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backFill } from '../../src/messages/inbound/back-fill.ts'
import { storeInbound } from '../../src/messages/inbound/store-inbound.ts'
import { purgeTombstones } from '../../src/messages/inbound/tombstones.ts'
import { manualClock } from '../support/manual-clock.ts'
import { writeManyMessages } from '../support/many-messages.ts'
import { operate } from '../support/operator.ts'
import { postEvent, smsEvent, subscribe } from '../support/provider-events.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

const PERSON = '+15555550188'

const erase = (world: World, phone: string, dryRun = false) =>
  operate(world, 'POST', '/v1/operator/erase', { phone, dryRun })

const newKey = (): string => crypto.getRandomValues(new Uint8Array(32)).toBase64()

const DAY_MS = 86_400_000

const rows = async (world: World, sql: string): Promise<readonly Record<string, unknown>[]> =>
  (await world.gateway.database.gate.execute(sql)).rows

async function extensionOf({ gateway, tenantId }: World) {
  const [row] = (await gateway.directory.tenant(tenantId)).extensions.values()
  if (row === undefined) throw new Error('No extension is connected')
  return row
}

test('an erasure deletes every message to and from the number, of all tenants, and nothing else', async () => {
  await using world = await createWorld()
  await world.untilStatus(await world.send({ to: PERSON, body: 'For the person' }))
  const other = await world.send({ body: 'For somebody else' })
  await world.untilStatus(other)
  await world.control.injectSms({ to: FROM, from: PERSON, text: 'From the person' })
  const stranger = await world.otherTenant()
  const ofTheirs = { count: 4, since: 0, tenantId: stranger.tenantId, appId: stranger.appId, phone: PERSON }
  await writeManyMessages(world.gateway.database.gate, ofTheirs)
  await until(async () => (await world.json<{ total: number }>('GET', '/v1/sms/messages')).body.total === 3)
  expect(await erase(world, PERSON)).toEqual({
    status: 200,
    body: { messages: 6, attempts: 4, deliveries: 1, waiting: 0 },
  })
  expect(
    (await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages')).body.messages.map(
      (one) => one.messageId,
    ),
  ).toEqual([other])
})

test('an erasure leaves no trace in the file after compact', async () => {
  await using world = await createWorld()
  // The row of the app that wrote to the contact must be deleted, too.
  await world.secondApp()
  await world.untilStatus(await world.send({ to: PERSON, body: 'A very private text' }))
  await erase(world, PERSON)
  const compact = () => operate(world, 'POST', '/v1/operator/compact')
  expect(await compact()).toMatchObject({ status: 409, body: { error: expect.stringContaining('stop it') } })
  await world.gateway.jobs.stop()
  world.gateway.lifecycle.working = false
  expect(await compact()).toMatchObject({ status: 200 })
  const bytes = ['', '-wal'].map((suffix) => readFileSync(`${world.folder}/sgw.db${suffix}`, 'latin1')).join('')
  expect(bytes.includes('A very private text')).toBe(false)
  expect(bytes.includes(PERSON)).toBe(false)
})

test('an erasure counts messages that have not ended and keeps them', async () => {
  await using world = await createWorld({ work: false })
  const waiting = await world.send({ to: PERSON })
  expect(await erase(world, PERSON)).toMatchObject({ body: { messages: 0, waiting: 1 } })
  expect(await world.status(waiting)).toMatchObject({ status: 'queued' })
})

test('an erasure refuses a connected number and a text that is not a number', async () => {
  await using world = await createWorld()
  expect(await erase(world, FROM)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('connected extension') },
  })
  expect(await erase(world, '12345')).toEqual({
    status: 400,
    body: { error: 'phone must be a valid E.164 phone number' },
  })
})

test('neither a repeated event nor a back-fill stores an erased message again; other messages are stored', async () => {
  await using world = await createWorld({ work: false })
  const { messageId } = await world.control.injectSms({ to: FROM, from: PERSON, text: 'From the person' })
  expect(await erase(world, PERSON)).toMatchObject({ body: { messages: 1, waiting: 0 } })
  const token = await subscribe(world, { extensionId: (await extensionOf(world)).extensionId })
  const repeated = smsEvent({ id: messageId, from: { phoneNumber: PERSON } }, { ownerId: undefined })
  expect((await postEvent(world, token, repeated)).status).toBe(200)
  expect(await backFill(world.gateway, await extensionOf(world))).toBe(0)
  expect(await rows(world, 'SELECT id FROM messages')).toEqual([])
  expect(await rows(world, "SELECT id FROM jobs WHERE kind != 'back_fill'")).toEqual([])
  await world.control.injectSms({ to: FROM, from: TO, text: 'From somebody else' })
  expect(await rows(world, 'SELECT body FROM messages')).toEqual([{ body: 'From somebody else' }])
})

test('a tombstone reveals no number, works after a key rotation, and is deleted after 31 days', async () => {
  const clock = manualClock()
  const [older, newer] = [newKey(), newKey()]
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  const first = await createWorld({ work: false, clock, folder, env: { ENCRYPTION_KEYS: older } })
  const { messageId } = await first.control.injectSms({ to: FROM, from: PERSON, text: 'From the person' })
  await erase(first, PERSON)
  const [tombstone] = await rows(first, 'SELECT * FROM erased_messages')
  expect(JSON.stringify(tombstone)).not.toContain(messageId)
  expect(tombstone?.['id_hash']).toMatch(/^[0-9a-f]{8}:[0-9a-f]{64}$/)
  const { tenantId } = first
  await first[Symbol.asyncDispose]()
  await using world = await createWorld({
    connect: false,
    work: false,
    clock,
    folder,
    env: { ENCRYPTION_KEYS: `${newer},${older}` },
  })
  const again = { tenantId, extensionId: '1', providerMessageId: messageId, from: PERSON, to: FROM, text: 'Again' }
  expect(await storeInbound(world.gateway, again)).toBe(false)
  clock.advance(31 * DAY_MS)
  expect(await purgeTombstones(world.gateway)).toBe(0)
  clock.advance(1)
  expect(await purgeTombstones(world.gateway)).toBe(1)
  expect(await storeInbound(world.gateway, again)).toBe(true)
  rmSync(folder, { recursive: true })
})

test('the rate window of the number survives an erasure and a restart, and reveals no contact', async () => {
  const clock = manualClock()
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  const env = { FROM_LIMIT_PER_MINUTE: '3' }
  const first = await createWorld({ clock, folder, env })
  for (const body of ['one', 'two']) await first.untilStatus(await first.send({ to: PERSON, body }))
  first.control.fault({ route: 'sms', calls: 1, fault: { kind: 'respond', status: 400 } })
  await first.untilStatus(await first.send({ to: PERSON, body: 'three' }), ['failed'])
  expect(await erase(first, PERSON)).toMatchObject({ body: { messages: 3, attempts: 3 } })
  expect(JSON.stringify(await rows(first, 'SELECT * FROM send_attempts'))).not.toContain(PERSON)
  await first[Symbol.asyncDispose]()
  await using world = await createWorld({ clock, folder, env, connect: false, work: false })
  expect(world.gateway.quota.numberWaitMs(FROM)).toBeGreaterThan(0)
  clock.advance(60_000)
  expect(world.gateway.quota.numberWaitMs(FROM)).toBe(0)
  rmSync(folder, { recursive: true })
})

test('a dry run returns the same counts and deletes nothing', async () => {
  await using world = await createWorld()
  await world.untilStatus(await world.send({ to: PERSON, body: 'For the person' }))
  const stranger = await world.otherTenant()
  const ofTheirs = { count: 4, since: 0, tenantId: stranger.tenantId, appId: stranger.appId, phone: PERSON }
  await writeManyMessages(world.gateway.database.gate, ofTheirs)
  const body = { messages: 5, attempts: 4, deliveries: 1, waiting: 0 }
  for (const dryRun of [true, true, false]) expect(await erase(world, PERSON, dryRun)).toEqual({ status: 200, body })
  expect(await erase(world, PERSON, true)).toMatchObject({ body: { messages: 0 } })
})

test('counted errors that quote the number are found in ranges, however many there are', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gate } = world.gateway.database
  await gate.execute(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5999)
    INSERT INTO usage_errors (tenant_id, half_hour, error, count, last_at)
    SELECT 'tenant_' || i % 2, i / 50, iif(i % 100, 'Error ' || i, '${PERSON} is wrong, ' || i), 1, 1 FROM n`)
  const before = await rows(world, `SELECT * FROM usage_errors WHERE instr(error, '${PERSON}')`)
  const batch = spyOn(gate, 'batch')
  await erase(world, PERSON)
  const deletes = batch.mock.calls.filter(([statements]) => JSON.stringify(statements).includes('usage_errors'))
  batch.mockRestore()
  expect(deletes).toHaveLength(4)
  expect(before).toHaveLength(60)
  expect(await rows(world, `SELECT count(*) AS count FROM usage_errors`)).toEqual([{ count: 6000 - 60 }])
  expect(await rows(world, `SELECT 1 FROM usage_errors WHERE instr(error, '${PERSON}')`)).toEqual([])
})
