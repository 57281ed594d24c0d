import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config.ts'
import { silentLog } from '../../src/core/log.ts'
import { openDatabase } from '../../src/db/database.ts'
import { openRestoreMark } from '../../src/db/restore-mark.ts'
import { createApp } from '../../src/operator/apps.ts'
import { createTenant } from '../../src/operator/tenants.ts'
import { runGateway } from '../../src/server/run.ts'
import { IS_QUARANTINED } from '../../src/messages/sending/quarantine.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { manualClock } from '../support/manual-clock.ts'
import { temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, FROM_2, World, until } from '../support/world.ts'
import {
  type OldMessage,
  asRelease1,
  insertAttempt,
  insertJob,
  insertMessage,
  jobIdOf,
  writeMark,
} from './release-1.ts'
import { messageIdOf } from '../support/delivery-rows.ts'

const MINUTE_MS = 60_000
const CLIENT = { clientId: 'client', clientSecret: 'client-key' }

/** Has one provider and one data folder, and starts gateways one after the other. */
async function openSite(stack: AsyncDisposableStack) {
  const folder = stack.use(temporaryFolder())
  const clock = manualClock()
  const simulator = await startSimulator({ clock, ...CLIENT })
  stack.defer(() => simulator.stop())
  const { extensionId } = simulator.control.addExtension({ name: 'Alice', numbers: [FROM, FROM_2] })
  const path = folder.file('sgw.db')
  const start = async (env: Record<string, string> = {}) => {
    const values = {
      NODE_ENV: 'test',
      PORT: '0',
      DATABASE_URL: `file:${path}`,
      RC_SERVER_URL: simulator.url,
      RC_CLIENT_ID: CLIENT.clientId,
      RC_CLIENT_SECRET: CLIENT.clientSecret,
      ...env,
    }
    const config = readConfig({ values, readFile: () => '' })
    if (!config.ok) throw new Error(config.problems.join('\n'))
    return runGateway({ config: config.config, log: silentLog, clock })
  }
  return { clock, control: simulator.control, extensionId, path, start }
}

type Site = Awaited<ReturnType<typeof openSite>>

/** Texts that the provider has received. The old release may not know that they were sent. */
const SENT_BEFORE = { '+15555550002': 'two', '+15555550004': 'four', '+15555550007': 'seven', '+15555550009': 'nine' }

/** Creates a tenant with a connected extension whose store has the records of `SENT_BEFORE`. */
async function prepareTenant(site: Site, webhookUrl: string) {
  const running = await site.start()
  const { tenantId } = await createTenant(running.gateway, { name: 'First' })
  const app = await createApp(running.gateway, { tenantId, name: 'App', webhookUrl, role: 'app' })
  const world = new World(running, site.control, site.path, app, false, null)
  expect((await world.connect()).ok).toBe(true)
  running.work()
  const ids = await Promise.all(Object.entries(SENT_BEFORE).map(([to, body]) => world.send({ to, body })))
  for (const id of ids) await world.untilStatus(id, ['sent'])
  const { rows } = await running.gateway.database.gate.execute(`SELECT value FROM facts WHERE name = 'incarnation'`)
  await running.stop()
  return { tenantId, app, incarnation: String(rows[0]?.['value']) }
}

const ERRORS: Record<string, string> = {
  'Telephony provider not connected for this tenant': 'not_connected',
  'Phone number +15555550100 is not registered in this provider account': 'unknown_number',
  'Extension not connected — re-authorize via invite link': 'revoked',
  'Message expired before it could be sent': 'expired',
  'Cancelled before sending': 'cancelled',
  'Delivery could not be confirmed with the provider': 'unconfirmed',
  'Provider rejected the message: Parameter [to] is invalid (CMN-101)': 'rejected',
}

interface OldContents {
  extensionId: string
  tenantId: string
  appId: string
  /** When the old release began its attempts, and when it ended. */
  begunAt: number
  now: number
}

const TEXTS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ')

/** Returns a function that writes messages of a tenant. The text of a message is its number. */
const writerOf =
  (database: Database, { tenantId, appId, begunAt }: OldContents) =>
  (number: number, status: OldMessage['status'], more: Partial<OldMessage> = {}): OldMessage => {
    const to = `+155555500${String(number).padStart(2, '0')}`
    const body = TEXTS[number - 1] ?? `text ${number}`
    const message = { number, from: FROM, to, body, status, at: begunAt, tenantId, appId, ...more }
    insertMessage(database, message)
    return message
  }

/** Writes messages that have not ended, in the order of acceptance. */
function fillWaiting(database: Database, old: OldContents): void {
  const { extensionId, begunAt } = old
  const message = writerOf(database, old)
  const firstAttempt = { extensionId, at: begunAt }
  const settleAt = begunAt + 30_000
  const one = message(1, 'queued')
  message(2, 'sending', { firstAttempt })
  message(3, 'sending', { firstAttempt })
  const [four, five, six] = [message(4, 'sending'), message(5, 'sending'), message(6, 'sending')]
  insertAttempt(database, four, extensionId, { settleAt })
  insertAttempt(database, five, extensionId)
  insertAttempt(database, six, extensionId, { outcome: 'not_accepted', httpStatus: 503 })
  const [seven, eight] = [message(7, 'queued'), message(8, 'queued')]
  // One conversation has three open attempts: two with rows of their own, and a first attempt without one.
  const to = '+15555550009'
  const [nine, ten] = [message(9, 'sending', { to }), message(10, 'sending', { to })]
  insertAttempt(database, nine, extensionId, { settleAt })
  insertAttempt(database, ten, extensionId)
  message(11, 'sending', { to, firstAttempt })
  const twelve = message(12, 'queued', { to: '+15555550002' })
  // The order of the jobs differs from the order of acceptance.
  for (const job of [twelve, five, one]) insertJob(database, { ...job, kind: 'send', lane: FROM })
  for (const job of [four, nine, ten]) insertJob(database, { ...job, kind: 'settle', lane: extensionId })
  for (const job of [eight, seven]) insertJob(database, { ...job, kind: 'fence', lane: FROM })
  insertJob(database, { ...six, kind: 'send', lane: `${FROM}/again` })
}

/**
 * Writes messages that have ended. Two of them were sent by a first attempt without a row and still count in a rate
 * window.
 */
function fillEnded(database: Database, old: OldContents): void {
  const message = writerOf(database, old)
  for (const [index, error] of Object.keys(ERRORS).entries()) message(20 + index, 'failed', { error })
  const at = old.now - 20_000
  const sent = (number: number): OldMessage =>
    message(number, 'sent', {
      from: FROM_2,
      rcMessageId: `old${number}`,
      at,
      firstAttempt: { extensionId: old.extensionId, at },
    })
  sent(40)
  // First attempts up to this bound no longer count.
  database.run(`UPDATE facts SET value = (SELECT max(seq) FROM messages) WHERE name LIKE 'windows_%'`)
  sent(41)
  sent(42)
  database.run(`UPDATE facts SET value = '9' WHERE name = 'begun'`)
}

/** Writes an inbound message with a waiting webhook, and a back-fill. */
function fillInbound(database: Database, old: OldContents): void {
  const { tenantId, appId, extensionId, now } = old
  writerOf(database, old)(50, 'received', { from: '+15555550001', to: FROM, body: 'inbound', rcMessageId: 'in50' })
  database.run(`UPDATE messages SET direction = 'inbound' WHERE status = 'received'`)
  const job = { tenantId, at: now }
  const deliveryId = `${messageIdOf(50)}:${appId}`
  insertJob(database, { ...job, number: 50, kind: 'webhook', lane: appId, subject: deliveryId })
  insertJob(database, { ...job, number: 51, kind: 'back_fill', lane: extensionId, subject: extensionId })
}

function fill(database: Database, old: OldContents): void {
  fillWaiting(database, old)
  fillEnded(database, old)
  fillInbound(database, old)
}

/** Creates a complete data folder of 1.0.0. `lost`: the number of attempts that the mark knows and the database lacks. */
async function openOldFolder(stack: AsyncDisposableStack, lost = 0) {
  const site = await openSite(stack)
  const receiver = stack.use(startReceiver())
  const begunAt = site.clock.now()
  const { app, incarnation, tenantId } = await prepareTenant(site, receiver.url)
  site.clock.advance(5 * MINUTE_MS)
  const { extensionId } = site
  const old = { extensionId, tenantId, appId: app.appId, begunAt, now: site.clock.now() }
  await asRelease1(site.path, (database) => fill(database, old))
  writeMark(site.path, incarnation, { rows: 5 + lost, deliveries: 0, begun: 9 })
  return { ...site, receiver, app, old }
}

const numberOf = (subject: unknown): number => Number.parseInt(String(subject).slice('msg_'.length), 16)

test('the upgrade keeps every message and job of release 1.0.0, in the order of acceptance', async () => {
  await using stack = new AsyncDisposableStack()
  const { old, start } = await openOldFolder(stack)
  const running = await start()
  stack.defer(() => running.stop())
  const { gate } = running.gateway.database
  const all = async (sql: string) => (await gate.execute(sql)).rows
  const send = await all(
    `SELECT id, subject, lane, contact, ${IS_QUARANTINED} AS is_quarantined FROM jobs WHERE kind = 'send' ORDER BY seq`,
  )
  expect(send.map((row) => numberOf(row['subject']))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  expect(send.map((row) => row['id'])).toEqual(send.map((row) => jobIdOf(numberOf(row['subject']))))
  expect(new Set(send.map((row) => row['lane']))).toEqual(new Set([FROM]))
  const quarantined = send.filter((row) => row['is_quarantined'] === 1).map((row) => numberOf(row['subject']))
  // The ninth has an open attempt, so it is looked up anyway.
  expect(quarantined).toEqual([7, 8, 9, 10, 11])
  const open = await all('SELECT message_id, outcome FROM send_attempts WHERE closed_at IS NULL')
  expect(open.map((row) => [numberOf(row['message_id']), row['outcome']]).toSorted()).toEqual(
    [2, 3, 4, 5, 9].map((number) => [number, 'unknown']),
  )
  const others = await all(
    `SELECT id, kind, lane, subject, due_at FROM jobs WHERE kind NOT IN ('send', 'lookup') ORDER BY seq`,
  )
  expect(others).toEqual([
    {
      id: jobIdOf(50),
      kind: 'webhook',
      lane: old.appId,
      subject: `${messageIdOf(50)}:${old.appId}`,
      due_at: old.now,
    },
    { id: jobIdOf(51), kind: 'back_fill', lane: old.extensionId, subject: old.extensionId, due_at: old.now },
  ])
  expect(await all(`SELECT lane FROM jobs WHERE kind = 'lookup'`)).toEqual([{ lane: old.extensionId }])
  const failed = await all(`SELECT error, error_code FROM messages WHERE status = 'failed' ORDER BY seq`)
  expect(Object.fromEntries(failed.map((row) => [row['error'], row['error_code']]))).toEqual(ERRORS)
  expect(await all('SELECT count(*) AS count FROM messages')).toEqual([{ count: 12 + 7 + 3 + 1 }])
  expect(await all(`SELECT value FROM facts WHERE name = 'restored_at'`)).toEqual([])
})

test('after the upgrade each text is sent once, quarantined messages and unknown outcomes after a lookup', async () => {
  await using stack = new AsyncDisposableStack()
  const { app, clock, control, path, receiver, start } = await openOldFolder(stack)
  const texts = (): (string | null)[] => control.messages({ direction: 'Outbound' }).map(({ text }) => text)
  const before = texts()
  const running = await start()
  stack.defer(() => running.stop())
  const world = new World(running, control, path, app, false, null)
  running.work()
  // Messages without an attempt or with a refused one need no lookup. No other message may go out before the settle
  // time is over.
  await until(() => texts().includes('six'))
  clock.advance(25_000)
  await world.untilStatus(messageIdOf(4), ['sent'])
  expect(texts().slice(before.length).toSorted()).toEqual(expect.arrayContaining(['one', 'six']))
  for (const early of ['three', 'five', 'eight', 'ten', 'eleven']) expect(texts()).not.toContain(early)
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  const ended = async (): Promise<boolean> => {
    clock.advance(1000)
    // A second of the clock leaves a call its time on a busy machine: one that times out is asked about again.
    await Bun.sleep(20)
    const states = await Promise.all(numbers.map((number) => world.status(messageIdOf(number))))
    return states.every(({ status }) => status === 'sent')
  }
  await until(ended, 60_000)
  const sent = [...before, ...texts().slice(before.length)]
  expect(sent.toSorted()).toEqual(
    'one two three four five six seven eight nine ten eleven twelve'.split(' ').toSorted(),
  )
  expect(sent.indexOf('ten')).toBeLessThan(sent.indexOf('eleven'))
  const [post] = await receiver.received(1)
  expect(post?.body).toMatchObject({ messageId: messageIdOf(50), body: 'inbound' })
})

test('the upgrade of an older copy of a database of release 1.0.0 quarantines all waiting messages', async () => {
  await using stack = new AsyncDisposableStack()
  const { start } = await openOldFolder(stack, 1)
  const running = await start()
  stack.defer(() => running.stop())
  const { gate } = running.gateway.database
  const { rows } = await gate.execute(`SELECT sum(${IS_QUARANTINED}) AS quarantined FROM jobs WHERE kind = 'send'`)
  expect(rows).toEqual([{ quarantined: 12 }])
  expect((await gate.execute(`SELECT 1 FROM jobs WHERE kind = 'webhook'`)).rows).toEqual([])
})

test('first attempts of the last minute, which had no rows, still count in the rate windows', async () => {
  await using stack = new AsyncDisposableStack()
  const { start } = await openOldFolder(stack)
  const running = await start({ FROM_LIMIT_PER_MINUTE: '2' })
  stack.defer(() => running.stop())
  expect(running.gateway.quota.numberWaitMs(FROM_2)).toBe(40_000)
})

test('the mark of release 1.0.0 distinguishes the current database from an older copy', async () => {
  const restored = async (rows: number, begun: number, deliveries: number): Promise<boolean> => {
    await using stack = new AsyncDisposableStack()
    const folder = stack.use(temporaryFolder())
    const path = folder.file('sgw.db')
    const options = { url: `file:${path}`, authToken: null, path, litestream: false }
    await (await openDatabase(options)).close()
    await asRelease1(path, (database) => {
      database.run(`INSERT INTO facts (name, value) VALUES ('incarnation', 'boot_1')`)
      database.run(`UPDATE facts SET value = '4' WHERE name = 'begun'`)
      database.run(`INSERT INTO sqlite_sequence (name, seq) VALUES ('send_attempts', 10), ('deliveries', 7)`)
    })
    writeMark(path, 'boot_1', { rows, begun, deliveries })
    const database = await openDatabase(options)
    stack.defer(() => database.close())
    const { restoreMark: mark, restored: isRestored } = await openRestoreMark(database, `${path}.mark`, {
      incarnation: 'boot_2',
      now: 1,
    })
    mark.close()
    return isRestored
  }
  expect(await restored(10, 4, 7)).toBe(false)
  expect(await restored(9, 4, 7)).toBe(false)
  expect(await restored(11, 4, 7)).toBe(true)
  expect(await restored(10, 5, 7)).toBe(true)
  // 1.0.0 stored numbers of attempts that it refused and never noted.
  expect(await restored(12, 2, 7)).toBe(true)
  expect(await restored(10, 4, 8)).toBe(true)
})
