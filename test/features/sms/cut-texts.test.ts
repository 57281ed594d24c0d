import { expect, test } from 'bun:test'
import { MESSAGE_ERRORS } from '../../../src/core/errors.ts'
import { findRecord } from '../../../src/features/sms/find-record.ts'
import { loadOutbound } from '../../../src/features/sms/outbound-message.ts'
import type { StoredSms } from '../../../src/provider/provider.ts'
import { FROM, TO, type World, createWorld } from '../../support/world.ts'

// The provider's store may cut a long text, so that a record counts whose text is how the message begins. Of two
// messages one of which is the other's beginning, each must be bound to its own record all the same.

const SHORT = 'The beginning of both. '.repeat(6)
const LONG = `${SHORT}And only the longer one goes on.`
const SETTLE = { RECONCILE_SETTLE: '300ms', RECONCILE_SETTLE_5XX: '300ms' }

const send = (world: World, body: string): Promise<string> => world.send({ from: FROM, to: TO, body })
const texts = (world: World): (string | null)[] =>
  world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)

async function expectSent(world: World, messageIds: string[], atProvider: string[]): Promise<void> {
  for (const messageId of messageIds) expect(await world.untilStatus(messageId)).toMatchObject({ status: 'sent' })
  expect(texts(world).toSorted()).toEqual(atProvider.toSorted())
}

/** As after a restore from a backup: what waits may have been sent, and this was. */
async function wasSent(world: World, text: string): Promise<void> {
  const [extension] = world.control.extensions()
  const key = { tenantId: world.tenantId, extensionId: extension?.extensionId ?? '' }
  const { session, provider, database } = world.gateway
  await session.call(key, 'medium', (token) => provider.sendSms(token, { from: FROM, to: TO, text }))
  await database.gate.execute(`UPDATE jobs SET kind = 'fence' WHERE kind = 'send'`)
}

test.each([
  ['longer', LONG, SHORT],
  ['shorter', SHORT, LONG],
])('the %s of two calls was lost: each text is at the provider once', async (_, lost, taken) => {
  await using world = await createWorld({ work: false, env: SETTLE })
  world.control.fault({ route: 'sms', fault: { kind: 'hang', ms: 20 } })
  world.control.fault({ route: 'sms', fault: { kind: 'accept-then-hang', ms: 150 } })
  const messageIds = [await send(world, lost), await send(world, taken)]
  world.running.work()
  await expectSent(world, messageIds, [lost, taken])
})

test('after a restore the shorter one is the one that was sent', async () => {
  await using world = await createWorld({ work: false, env: SETTLE })
  const messageIds = [await send(world, LONG), await send(world, SHORT)]
  await wasSent(world, SHORT)
  world.running.work()
  await expectSent(world, messageIds, [LONG, SHORT])
})

test('a record that holds the beginning of a text is its record', async () => {
  await using world = await createWorld({ work: false, env: SETTLE })
  const messageIds = [await send(world, LONG)]
  await wasSent(world, LONG.slice(0, 120))
  world.running.work()
  await expectSent(world, messageIds, [LONG.slice(0, 120)])
})

test('a record that holds less than 100 characters is not', async () => {
  await using world = await createWorld({ work: false, env: SETTLE })
  const messageIds = [await send(world, LONG)]
  await wasSent(world, LONG.slice(0, 99))
  world.running.work()
  await expectSent(world, messageIds, [LONG.slice(0, 99), LONG])
})

test('a record that another message is bound to while it is looked at is not found', async () => {
  await using world = await createWorld({ work: false })
  const [longer, shorter] = [await send(world, LONG), await send(world, SHORT)]
  const { gateway } = world
  const { gate } = gateway.database
  await gate.batch([`UPDATE messages SET status = 'sending'`, `UPDATE jobs SET lane = lane || '/again'`])
  const message = (await loadOutbound(gateway, [longer])).get(longer)
  if (message === undefined) throw new Error('The message is gone')
  const record = { providerMessageId: '77', from: FROM, to: [{ phoneNumber: TO }], text: SHORT } as StoredSms
  const bind = { sql: `UPDATE messages SET status = 'sent', rc_message_id = '77' WHERE id = ?1`, args: [shorter] }
  let looks = 0
  const execute: typeof gate.execute = async (statement) => {
    const rows = await gate.execute(statement)
    if (++looks === 1) await gate.execute(bind)
    return rows
  }
  const meanwhile = { ...gateway, database: { ...gateway.database, gate: { ...gate, execute } } }
  expect(await findRecord(meanwhile, message, [record])).toBeNull()
  expect(looks).toBe(2)
})

const SHORT_ONE = `id = (SELECT id FROM messages WHERE body = '${SHORT}')`
const ITS_JOB = `subject = (SELECT id FROM messages WHERE body = '${SHORT}')`
const STATES: [string, boolean, string[]][] = [
  ['waits for its first call', false, []],
  [
    'is on its first call, which stands in its row',
    true,
    [
      `UPDATE messages SET status = 'sending', first_attempt_extension_id = '101', attempt_id = 'att_1' WHERE ${SHORT_ONE}`,
      `DELETE FROM jobs WHERE ${ITS_JOB}`,
    ],
  ],
  [
    'is on a call',
    true,
    [
      `UPDATE messages SET status = 'sending', attempt_id = 'att_1' WHERE ${SHORT_ONE}`,
      `INSERT INTO send_attempts (id, message_id, tenant_id, extension_id, from_number, to_number, text_hash, number, boot_id, started_at)
        SELECT 'att_1', id, tenant_id, '101', from_number, to_number, 'hash', 1, 'boot_1', 1 FROM messages WHERE ${SHORT_ONE}`,
    ],
  ],
  [
    'waits to be tried again',
    true,
    [
      `UPDATE messages SET status = 'sending', attempt_id = 'att_1' WHERE ${SHORT_ONE}`,
      `UPDATE jobs SET lane = lane || '/again' WHERE ${ITS_JOB}`,
    ],
  ],
  [
    'is being looked up',
    true,
    [
      `UPDATE messages SET status = 'sending', attempt_id = 'att_1' WHERE ${SHORT_ONE}`,
      `UPDATE jobs SET kind = 'settle', lane = '101' WHERE ${ITS_JOB}`,
    ],
  ],
  ['waits behind the fence', true, [`UPDATE jobs SET kind = 'fence' WHERE ${ITS_JOB}`]],
  [
    'waits behind the fence to be tried again',
    true,
    [`UPDATE jobs SET kind = 'fence', lane = lane || '/again' WHERE ${ITS_JOB}`],
  ],
  [
    'could not be confirmed',
    true,
    [
      `UPDATE messages SET status = 'failed', error = '${MESSAGE_ERRORS.unconfirmed}' WHERE ${SHORT_ONE}`,
      `DELETE FROM jobs WHERE ${ITS_JOB}`,
    ],
  ],
  [
    'has failed',
    false,
    [
      `UPDATE messages SET status = 'failed', error = '${MESSAGE_ERRORS.cancelled}' WHERE ${SHORT_ONE}`,
      `DELETE FROM jobs WHERE ${ITS_JOB}`,
    ],
  ],
]

/** Whether the short text keeps the record from the longer one, after these changes. */
async function isKept(world: World, changes: string[]): Promise<boolean> {
  await world.gateway.jobs.stop()
  const longer = await send(world, LONG)
  await send(world, SHORT)
  await world.gateway.database.gate.batch(changes)
  const message = (await loadOutbound(world.gateway, [longer])).get(longer)
  if (message === undefined) throw new Error('The message is gone')
  const record = { providerMessageId: '77', from: FROM, to: [{ phoneNumber: TO }], text: SHORT } as StoredSms
  return (await findRecord(world.gateway, message, [record])) === null
}

test.each(STATES)('a record with the text of a message that %s is that one’s: %p', async (_, isIts, changes) => {
  await using world = await createWorld({ work: false })
  expect(await isKept(world, changes)).toBe(isIts)
})

const KEEPING = STATES.filter(([, isIts]) => isIts)

test.each(KEEPING)('a message on another way that %s keeps no record', async (_, __, changes) => {
  for (const other of [`to_number = '+15555550188'`, `from_number = '+15555550188'`]) {
    await using world = await createWorld({ work: false })
    expect(await isKept(world, [...changes, `UPDATE messages SET ${other} WHERE ${SHORT_ONE}`])).toBe(false)
  }
})

test('another tenant’s message keeps a record only if that tenant has the number as well', async () => {
  for (const shares of [true, false]) {
    await using world = await createWorld({ work: false })
    const { tenantId } = await world.otherTenant()
    const share = `INSERT INTO phone_numbers (tenant_id, number, extension_id) SELECT '${tenantId}', number, extension_id FROM phone_numbers WHERE number = '${FROM}'`
    const changes = [
      'PRAGMA defer_foreign_keys = ON',
      `UPDATE messages SET tenant_id = '${tenantId}', status = 'failed', error = '${MESSAGE_ERRORS.unconfirmed}' WHERE ${SHORT_ONE}`,
      `DELETE FROM jobs WHERE ${ITS_JOB}`,
      `INSERT INTO extensions (tenant_id, extension_id, account_id, status, connected_at, access_token, access_expires_at, refresh_token, refresh_expires_at, refreshed_at)
        SELECT '${tenantId}', extension_id, account_id, status, connected_at, access_token, access_expires_at, refresh_token, refresh_expires_at, refreshed_at FROM extensions`,
      ...(shares ? [share] : []),
    ]
    expect(await isKept(world, changes)).toBe(shares)
  }
})

test('no look at texts reads all messages or attempts', async () => {
  await using world = await createWorld({ work: false })
  const message = (await loadOutbound(world.gateway, [await send(world, LONG)])).values().next().value
  if (message === undefined) throw new Error('The message is gone')
  const { gate } = world.gateway.database
  const asked: Parameters<typeof gate.execute>[0][] = []
  const execute: typeof gate.execute = (statement) => (asked.push(statement), gate.execute(statement))
  const spied = { ...world.gateway, database: { ...world.gateway.database, gate: { ...gate, execute } } }
  await findRecord(spied, message, [
    { providerMessageId: '77', from: FROM, to: [{ phoneNumber: TO }], text: SHORT } as StoredSms,
  ])
  expect(asked).toHaveLength(2)
  for (const statement of asked) {
    const { sql, args = [] } = typeof statement === 'string' ? { sql: statement } : statement
    const { rows } = await gate.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args })
    const steps = rows.map((row) => String(row['detail']))
    expect(
      steps.filter((step) =>
        /^SCAN (messages|send_attempts|jobs)(?! USING INDEX (messages|send_attempts)_open)/.test(step),
      ),
    ).toEqual([])
  }
})
