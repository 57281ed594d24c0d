import { describe, expect, test } from 'bun:test'
import { LISTED_STATES, type ListedState } from '../../../src/api/sms/message-states.ts'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { FROM, FROM_2, TO, type World, createWorld, until } from '../../support/world.ts'

const HOUR_MS = 3_600_000

interface List {
  messages: { messageId: string }[]
  total: number
}

async function list(world: World, query: string, key = world.key): Promise<string[]> {
  const { status, body } = await world.json<List>('GET', `/v1/sms/messages?${query}`, { key })
  expect([query, status, body.total]).toEqual([query, 200, body.messages.length])
  return body.messages.map(({ messageId }) => messageId)
}

/** What each state lists. */
async function states(world: World, query = '', key = world.key): Promise<Record<string, string[]>> {
  const found = LISTED_STATES.map(async (state) => [state, await list(world, `state=${state}${query}`, key)])
  return Object.fromEntries(await Promise.all(found)) as Record<string, string[]>
}

const NONE = { waiting: [], scheduled: [], failed: [], cancelled: [], undelivered: [] }

/** A sent message that the provider has not delivered. */
async function undelivered(world: World): Promise<string> {
  const messageId = await world.send()
  const [row] = (
    await world.gateway.database.gate.execute({
      sql: `UPDATE messages SET status = 'sent' WHERE id = ?1 RETURNING seq, tenant_id`,
      args: [messageId],
    })
  ).rows
  await world.gateway.database.gate.execute({
    sql: `INSERT INTO delivery_states (message_seq, tenant_id, extension_id, sent_at, conclusion, error_code, concluded_at)
      VALUES (?1, ?2, '101', 1, 'undelivered', 'SMS-CAR-430', 2)`,
    args: [row?.['seq'] ?? null, row?.['tenant_id'] ?? null],
  })
  return messageId
}

test('a scheduled message is scheduled until its time, then it waits', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const sendAt = new Date(clock.now() + HOUR_MS).toISOString()
  const id = await world.send({ sendAt })
  expect(await states(world)).toEqual({ ...NONE, scheduled: [id] })
  clock.advance(HOUR_MS - 1)
  expect(await states(world)).toEqual({ ...NONE, scheduled: [id] })
  clock.advance(1)
  expect(await states(world)).toEqual({ ...NONE, waiting: [id] })
  expect((await world.call('DELETE', `/v1/sms/${id}`)).status).toBe(200)
  expect(await states(world)).toEqual({ ...NONE, cancelled: [id] })
})

test('queued and sending messages wait, sent ones are in no state, and of failed ones the cancelled stand apart', async () => {
  await using world = await createWorld({ clock: manualClock() })
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 400 } })
  const refused = await world.send()
  await world.untilStatus(refused, ['failed'])
  const unknown = await world.send({ from: '+15555550777' })
  await world.untilStatus(unknown, ['failed'])
  await world.untilStatus(await world.send(), ['sent'])
  expect(await states(world)).toEqual({ ...NONE, failed: [unknown, refused] })
  const headers = { 'Retry-After': '60' }
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers } })
  const sending = await world.send()
  await until(async () => (await world.status(sending))['status'] === 'sending')
  const queued = await world.send({ from: FROM_2 })
  expect(await states(world)).toEqual({ ...NONE, waiting: [queued, sending], failed: [unknown, refused] })
})

test('an undelivered message is found from the moment in which the provider says so', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const id = await world.send()
  const { rcMessageId } = await world.untilStatus(id, ['sent'])
  await world.untilStatus(await world.send(), ['sent'])
  expect(await states(world)).toEqual(NONE)
  const failed = { messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-411' }
  world.control.setMessageStatus({ messageId: String(rcMessageId), ...failed })
  await until(async () => {
    clock.advance(1000)
    return (await list(world, 'state=undelivered')).length > 0
  })
  expect(await states(world)).toEqual({ ...NONE, undelivered: [id] })
})

describe('with messages in all states', () => {
  async function filled(): Promise<{ world: World; ids: Record<ListedState, string>; at: string }> {
    const clock = manualClock()
    const world = await createWorld({ clock, connect: false, work: false })
    const cancelled = await world.send({ userId: 'u1' })
    await world.call('DELETE', `/v1/sms/${cancelled}`)
    const failed = await world.send({ userId: 'u1' })
    await world.gateway.database.gate.execute(
      `UPDATE messages SET status = 'failed', error = 'Rejected', error_code = 'rejected' WHERE id = '${failed}'`,
    )
    const waiting = await world.send({ userId: 'u1' })
    const scheduled = await world.send({ userId: 'u1', sendAt: new Date(clock.now() + HOUR_MS).toISOString() })
    const ids = { waiting, scheduled, failed, cancelled, undelivered: await undelivered(world) }
    const at = new Date(clock.now()).toISOString()
    clock.advance(1000)
    return { world, ids, at }
  }

  test('a state combines with all other filters, pages and include', async () => {
    const { world, ids, at } = await filled()
    await using _ = world
    const [from, to] = [FROM, TO].map((number) => encodeURIComponent(number))
    const { waiting, failed, cancelled, scheduled } = ids
    const all = Object.fromEntries(Object.entries(ids).map(([state, id]) => [state, [id]]))
    expect(await states(world)).toEqual(all)
    for (const query of [
      `direction=outbound&from=${from}&to=${to}`,
      `number=${from}&contact=${to}&appId=${world.app.appId}&tenantId=${world.tenantId}`,
      `startDate=${at}&endDate=${at}`,
      'include=delivery&status=',
    ])
      expect([query, await states(world, `&${query}`)]).toEqual([query, all])
    for (const query of [
      'direction=inbound',
      'appId=app_0',
      `from=${to}`,
      'contact=1',
      'endDate=2020-01-01',
      'userId=x',
    ])
      expect([query, await states(world, `&${query}`)]).toEqual([query, NONE])
    expect(await states(world, '&status=failed')).toEqual({ ...NONE, failed: [failed], cancelled: [cancelled] })
    expect(await states(world, '&status=queued')).toEqual({ ...NONE, waiting: [waiting], scheduled: [scheduled] })
    expect(await states(world, '&userId=u1')).toEqual({ ...all, undelivered: [] })
    const page = await world.json<List>('GET', '/v1/sms/messages?state=waiting&page=2&limit=1')
    expect(page.body).toEqual({ messages: [], total: 1, page: 2, limit: 1 } as never)
  })

  test('another tenant finds none of them', async () => {
    const { world } = await filled()
    await using _ = world
    const { apiKey, tenantId } = await world.otherTenant()
    expect(await states(world, '', apiKey)).toEqual(NONE)
    expect(await states(world, `&tenantId=${world.tenantId}`, apiKey)).toEqual(NONE)
    expect(await states(world, `&appId=${world.app.appId}`, apiKey)).toEqual(NONE)
    expect(await states(world, `&tenantId=${tenantId}`)).toEqual(NONE)
    // A delivery state of another tenant says nothing about this one's message.
    await world.gateway.database.gate.execute({ sql: 'UPDATE delivery_states SET tenant_id = ?1', args: [tenantId] })
    expect(await list(world, 'state=undelivered')).toEqual([])
    expect(await list(world, 'state=undelivered', apiKey)).toEqual([])
  })

  test('without a state the list has the contract’s shape and all of them', async () => {
    const { world, ids } = await filled()
    await using _ = world
    expect(await list(world, '')).toHaveLength(5)
    expect(await list(world, 'state=')).toHaveLength(5)
    const { body } = await world.json<{ messages: object[] }>('GET', '/v1/sms/messages?state=cancelled')
    expect(Object.keys(body.messages[0] ?? {})).toEqual([
      'messageId',
      'jobId',
      'appId',
      'tenantId',
      'userId',
      'direction',
      'status',
      'rcMessageId',
      'error',
      'to',
      'from',
      'body',
      'createdAt',
      'updatedAt',
    ])
    expect(body.messages).toMatchObject([{ messageId: ids.cancelled, error: 'Cancelled before sending' }])
  })
})

test.each([
  'Waiting',
  'queued',
  'delivered',
  'waiting,failed',
  ' waiting',
  '%00',
  "'",
  'constructor',
  'x'.repeat(1000),
])('another state is refused: %s', async (value) => {
  await using world = await createWorld({ connect: false, work: false })
  await expectError(await world.call('GET', `/v1/sms/messages?state=${value}`), 400, 'Invalid state')
  await list(world, `state=${value}&state=waiting`)
})
