import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { backFill, backFillJobs } from '../../../src/messages/inbound/back-fill.ts'
import { erase } from '../../../src/operator/erase.ts'
import { LIST_TOO_LONG, type ProviderFailure } from '../../../src/provider/provider.ts'
import { HeldReplica } from '../../support/held-replica.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { type World, type WorldOptions, createWorld, recordedLog, until } from '../../support/world.ts'

const HOUR_MS = 3_600_000
const KNOWN = 1000
const ERASED = 20
const NEW = ['new 1', 'STOP', 'new 2']
const FAILURE: ProviderFailure = {
  reason: 'ambiguous',
  status: null,
  code: null,
  message: '',
  oauthError: null,
  retryAfterMs: null,
  requestId: null,
}

/** Stores six messages at the provider, one per hour, without events. */
async function sixHours({ second = 'hour 1', ...options }: WorldOptions & { second?: string } = {}) {
  const clock = manualClock()
  const world = await createWorld({ clock, work: false, ...options })
  for (let hour = 0; hour < 6; hour++) {
    clock.advance(HOUR_MS)
    await world.control.injectSms({ from: '+15558880001', text: hour === 1 ? second : `hour ${hour}`, deliver: false })
  }
  clock.advance(HOUR_MS)
  return world
}

async function extensionOf({ gateway, tenantId }: World) {
  const [row] = (await gateway.directory.tenant(tenantId)).extensions.values()
  if (row === undefined) throw new Error('No extension is connected')
  return row
}

async function received(world: World): Promise<unknown[]> {
  const { rows } = await world.gateway.database.gate.execute(
    `SELECT body FROM messages WHERE direction = 'inbound' ORDER BY body`,
  )
  return rows.map((row) => row['body'])
}

test('a range with more messages than one listing reads is filled in slice by slice', async () => {
  await using world = await sixHours()
  const { provider, clock } = world.gateway
  const list = provider.listMessages
  let refused = 0
  provider.listMessages = async (token, query) => {
    if ((query.until ?? clock.now()) - query.since <= 2 * HOUR_MS) return list(token, query)
    refused++
    return { ok: false, failure: { ...FAILURE, code: LIST_TOO_LONG } }
  }
  expect(await backFill(world.gateway, await extensionOf(world))).toBe(6)
  expect(await received(world)).toEqual(Array.from({ length: 6 }, (_, hour) => `hour ${hour}`))
  expect(refused).toBeGreaterThan(0)
  expect((await extensionOf(world)).backFilledUntil).toBe(clock.now())
})

test('a stop waits for the commit of what is being filled in, and leaves the others to the next start', async () => {
  const replica = new HeldReplica()
  // A keyword has a commit of its own.
  await using world = await sixHours({ replica, second: 'STOP' })
  const { provider } = world.gateway
  const list = provider.listMessages
  provider.listMessages = (token, query) => {
    replica.hold()
    return list(token, query)
  }
  const { tenantId, extensionId } = await extensionOf(world)
  const job = { seq: 1, id: '1', kind: 'back_fill' as const, lane: extensionId, tenantId, subject: extensionId }
  const filling = backFillJobs(world.gateway).run(job, extensionId, { release: () => undefined })
  await until(async () => (await received(world)).length === 1)
  const stopping = world.running.stop()
  replica.release()
  expect(await filling).toEqual({ type: 'snooze', delayMs: 0 })
  await stopping
  using database = new Database(world.gateway.config.database.path ?? '')
  expect(database.query('SELECT body FROM messages').all()).toEqual([{ body: 'hour 0' }])
})

test('texts that are stored or erased cost no commit, so that new ones do not wait for an upload of each', async () => {
  const replica = new HeldReplica()
  await using world = await createWorld({ work: false, replica })
  const inject = (text: string, from = '+15558880001') => world.control.injectSms({ from, text, deliver: false })
  for (let number = 0; number < KNOWN; number++) await inject(`known ${number}`)
  for (let number = 0; number < ERASED; number++) await inject('erased', '+15558880002')
  expect(await backFill(world.gateway, await extensionOf(world))).toBe(KNOWN + ERASED)
  expect(await erase(world.gateway, { phone: '+15558880002' })).toMatchObject({ messages: ERASED })
  for (const text of NEW) await inject(text)
  const before = replica.asked
  expect(await backFill(world.gateway, await extensionOf(world))).toBe(NEW.length)
  // One upload for each new text, and one for the progress.
  expect(replica.asked - before).toBe(NEW.length + 1)
  const { rows } = await world.gateway.database.gate.execute('SELECT body FROM messages ORDER BY seq')
  expect(rows.map(({ body }) => body)).toEqual([...Array.from({ length: KNOWN }, (_, at) => `known ${at}`), ...NEW])
})

test('messages that were filled in before the store failed are not requested again', async () => {
  await using world = await sixHours()
  const { provider, clock } = world.gateway
  const list = provider.listMessages
  const asked: number[] = []
  let works = true
  provider.listMessages = async (token, query) => {
    asked.push(query.since)
    if ((query.until ?? clock.now()) - query.since > 4 * HOUR_MS)
      return { ok: false, failure: { ...FAILURE, code: LIST_TOO_LONG } }
    if (works) return ((works = false), list(token, query))
    return { ok: false, failure: FAILURE }
  }
  expect(await backFill(world.gateway, await extensionOf(world))).toBeNull()
  const before = await received(world)
  expect(before.length).toBeGreaterThan(0)
  provider.listMessages = (token, query) => (asked.push(query.since), list(token, query))
  expect(await backFill(world.gateway, await extensionOf(world))).toBe(6 - before.length)
  expect(asked.at(-1)).toBeGreaterThan((asked[0] ?? 0) + 2 * HOUR_MS)
})

test('unreadable records of the store are skipped and logged, and the others are filled in', async () => {
  const { log, lines } = recordedLog()
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false, log })
  clock.advance(HOUR_MS)
  const record = (id: number, other: object) => ({
    id,
    type: 'SMS',
    direction: 'Inbound',
    from: { phoneNumber: '+15558880001' },
    to: [{ phoneNumber: '+15555550100', target: true }],
    subject: `message ${id}`,
    creationTime: new Date(clock.now()).toISOString(),
    ...other,
  })
  const records = [
    record(1, {}),
    record(2, { creationTime: undefined }),
    record(3, { direction: undefined }),
    record(2 ** 60, {}),
    record(5, {}),
  ]
  world.control.fault({ route: 'message-store', calls: 1, fault: { kind: 'respond', status: 200, body: { records } } })
  expect(await backFill(world.gateway, await extensionOf(world))).toBe(2)
  expect(await received(world)).toEqual(['message 1', 'message 5'])
  expect((await extensionOf(world)).backFilledUntil).toBe(clock.now())
  const logged = lines.filter((line) => line.includes('message store is unreadable')).map((line) => JSON.parse(line))
  expect(logged).toMatchObject([
    { level: 'warn', providerMessageId: '2', member: 'creationTime' },
    { level: 'warn', providerMessageId: '3', member: 'direction' },
    { level: 'warn', providerMessageId: null, member: 'id' },
  ])
})

test('messages between two authorizations are filled in, also if the store was never read before', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const { extensionId } = await extensionOf(world)
  const inject = (text: string) => world.control.injectSms({ from: '+15558880001', text, deliver: false })
  clock.advance(HOUR_MS)
  await inject('before the revocation')
  world.control.revokeTokens({ extensionId })
  expect(await backFill(world.gateway, await extensionOf(world))).toBeNull()
  clock.advance(HOUR_MS)
  await inject('while it was revoked')
  clock.advance(HOUR_MS)
  expect((await extensionOf(world)).backFilledUntil).toBeNull()
  expect((await world.connect()).status).toBe(200)
  expect(await backFill(world.gateway, await extensionOf(world))).toBe(2)
  expect(await received(world)).toEqual(['before the revocation', 'while it was revoked'])
})

test('the texts of a listing are stored in a few commits, in its order, keywords, pictures and odd numbers among them', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const { gateway, control } = world
  await world.secondApp('http://127.0.0.1:9/hook')
  const words = Array.from({ length: 150 }, (_, number) => `text ${number}`)
  Object.assign(words, { 40: 'STOP', 41: 'START', 90: 'STOP' })
  for (const [number, text] of words.entries()) {
    clock.advance(1000)
    const from = number === 60 ? '12345' : '+15558880001'
    const attachments = number === 70 ? [{ contentType: 'image/png', data: 'iVBORw0KGgo=' }] : []
    await control.injectSms({ from, text, attachments, deliver: false })
  }
  clock.advance(HOUR_MS)
  let commits = 0
  gateway.database.writer.onCommit(() => commits++)
  expect(await backFill(gateway, await extensionOf(world))).toBe(150)
  // Runs of at most 64, of one operation each, and the progress.
  expect(commits).toBeLessThanOrEqual(10)
  const column = async (sql: string): Promise<unknown[]> =>
    (await gateway.database.gate.values(sql)).map(([value]) => value)
  expect(await column(`SELECT body FROM messages WHERE direction = 'inbound' ORDER BY seq`)).toEqual(words)
  const ofMessages = (table: string): string =>
    `SELECT body FROM ${table} JOIN messages ON messages.id = substr(subject, 1, 16) WHERE direction = 'inbound'`
  expect(await column(`${ofMessages('events')} ORDER BY events.seq`)).toEqual(words)
  expect(await column(`${ofMessages('jobs')} AND kind = 'webhook' ORDER BY jobs.seq`)).toEqual(words)
  expect(await column(`SELECT json_array_length(attachments) FROM messages WHERE body = 'text 70'`)).toEqual([1])
  const optOut = await world.json('GET', '/v1/opt-outs')
  expect(JSON.stringify(optOut.body)).toContain('+15558880001')
  expect(await backFill(gateway, await extensionOf(world))).toBe(0)
})
