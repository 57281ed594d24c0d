import { expect, test } from 'bun:test'
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
  await gate.execute(`UPDATE messages SET status = 'sending'`)
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
