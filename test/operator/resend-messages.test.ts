import { expect, spyOn, test } from 'bun:test'
import { MESSAGE_FAILURES, rejected, unknownNumber } from '../../src/core/message-failure.ts'
import { deactivateApp } from '../../src/operator/apps.ts'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import { manualClock } from '../support/manual-clock.ts'
import { PNG, uploaded } from '../support/media.ts'
import { operate, signIn } from '../support/operator.ts'
import { FROM, FROM_2, type World, createWorld, until } from '../support/world.ts'

const HOUR_MS = 3_600_000
const PATH = '/v1/operator/messages/resend'
const NONE = { optedOut: 0, tooOld: 0, cancelled: 0, perhapsDelivered: 0, alreadyResent: 0, notFailed: 0 }

const resend = (world: World, wish: object = {}) => operate(world, 'POST', PATH, { tenantId: world.tenantId, ...wish })
const answer = (resent: number, left: object = {}, refused = 0) => ({ resent, refused, left: { ...NONE, ...left } })
const sent = (resent: number, left: object = {}, refused = 0) => ({ status: 202, body: answer(resent, left, refused) })
/** What the provider has taken, in its order. */
const texts = (world: World): (string | null)[] =>
  world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)

type Failure = { code: string; text: string }
const UNKNOWN = unknownNumber('+15555550777')

/** A message that has failed, as if the provider or the gateway had ended it. */
async function failed(world: World, { code, text }: Failure, message: object = {}, key = world.key): Promise<string> {
  const id = await world.send({ from: '+15555550777', ...message }, { key })
  // A text from a number that nobody has connected fails as soon as the number lookup has ended.
  if (world.gateway.sending.jobSeqOf(id) !== null) world.gateway.sending.messageEnded(id)
  await world.gateway.database.writer.write([
    {
      sql: `UPDATE messages SET status = 'failed', error = ?2, error_code = ?3, updated_at = ?4 WHERE id = ?1`,
      args: [id, text, code, world.gateway.clock.now()],
    },
    { sql: 'DELETE FROM jobs WHERE subject = ?1', args: [id] },
  ])
  return id
}

/** All messages of all tenants, as accepted. */
async function stored({ gateway }: World): Promise<Record<string, unknown>[]> {
  const columns = 'body, status, from_number, user_id, app_id, send_at'
  return (await gateway.database.gate.execute(`SELECT ${columns} FROM messages ORDER BY seq`)).rows.map((row) => ({
    ...row,
  }))
}

const bodiesOf = async (world: World, status: string): Promise<unknown[]> =>
  (await stored(world)).filter((row) => row['status'] === status).map(({ body }) => body)

test('failed messages go out again once, oldest first and in the order of each conversation, from another number', async () => {
  await using world = await createWorld({ work: false })
  const bodies = Array.from({ length: 30 }, (_, index) => `text ${index}`)
  for (const body of bodies) await failed(world, UNKNOWN, { body, userId: 'u1' })
  expect(await resend(world, { from: FROM, dryRun: true })).toEqual({ status: 200, body: answer(30) })
  expect(await stored(world)).toHaveLength(30)
  expect(await resend(world, { from: FROM })).toEqual(sent(30))
  expect(await bodiesOf(world, 'failed')).toEqual(bodies)
  expect(await bodiesOf(world, 'queued')).toEqual(bodies)
  expect((await stored(world)).at(-1)).toEqual({
    body: 'text 29',
    status: 'queued',
    from_number: FROM,
    user_id: 'u1',
    app_id: world.app.appId,
    send_at: null,
  })
  expect(await resend(world, { from: FROM })).toEqual(sent(0, { alreadyResent: 30 }))
  const { body: reasons } = await world.json<{ failures: object[] }>('GET', '/v1/sms/failures')
  expect(reasons.failures).toMatchObject([{ failure: 'unknown_number', count: 30, resent: 30 }])
  world.running.work()
  await until(() => texts(world).length === 30)
  expect(texts(world)).toEqual(bodies)
})

test('many go out in small portions, so that other requests are answered between them', async () => {
  await using world = await createWorld({ work: false })
  for (let index = 0; index < 60; index++) await failed(world, UNKNOWN, { body: `text ${index}` })
  const { sending } = world.gateway
  const accept = sending.accept.bind(sending)
  const perTick: number[] = []
  let isCounting = false
  using _accepts = spyOn(sending, 'accept').mockImplementation((row) => {
    if (!isCounting) perTick.push(0)
    if (!isCounting) setImmediate(() => void (isCounting = false))
    isCounting = true
    perTick.push((perTick.pop() ?? 0) + 1)
    return accept(row)
  })
  expect(await resend(world, { from: FROM })).toEqual(sent(60))
  expect(perTick.reduce((sum, count) => sum + count, 0)).toBe(60)
  expect(Math.max(...perTick)).toBeLessThanOrEqual(10)
})

test('calls at the same time, by two operators, send nothing twice', async () => {
  await using world = await createWorld()
  const ids: string[] = []
  for (let index = 0; index < 36; index++)
    ids.push(await failed(world, UNKNOWN, { body: `text ${index}`, to: `+1555556${String(index).padStart(4, '0')}` }))
  const { token } = await signIn(world)
  const { token: other } = await signIn(world)
  const bySession = (key: string, wish: object) =>
    world.json<ReturnType<typeof answer>>('POST', PATH, {
      key,
      body: { tenantId: world.tenantId, from: FROM, ...wish },
    })
  const answers = await Promise.all([
    bySession(token, {}),
    bySession(other, { failure: 'unknown_number' }),
    bySession(token, { messageIds: ids.slice(10, 26) }),
    resend(world, { from: FROM }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202])
  expect(answers.reduce((sum, { body }) => sum + Number(body['resent']), 0)).toBe(36)
  await until(() => texts(world).length === 36)
  expect(new Set(texts(world)).size).toBe(36)
  expect(await stored(world)).toHaveLength(72)
  expect(await resend(world)).toEqual(sent(0, { alreadyResent: 36 }))
})

test('each is left out for the first reason that it has', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const { cancelled, unconfirmed, expired, optedOut } = MESSAGE_FAILURES
  const gone = '+15555550155'
  for (const number of [FROM, FROM_2])
    await world.json('PUT', '/v1/opt-outs', { body: { number, contact: gone, optedOut: true } })
  const old = await failed(world, expired, { body: 'old', from: FROM })
  await failed(world, expired, { body: 'old and opted out', from: FROM, to: gone })
  clock.advance(2 * HOUR_MS)
  const ids = [
    old,
    await failed(world, cancelled, { body: 'cancelled' }),
    await failed(world, unconfirmed, { body: 'unconfirmed', to: gone }),
    await failed(world, unconfirmed, { body: 'perhaps' }),
    await failed(world, expired, { body: 'opted out of its number', from: FROM_2, to: gone }),
    await failed(world, optedOut, { body: 'opted in again', from: FROM }),
    await failed(world, rejected('Refused', 'CMN-101'), { body: 'refused' }),
    await world.send({ body: 'waits' }),
  ]
  const wish = { maxAgeMinutes: 60, from: FROM }
  const left = { optedOut: 2, tooOld: 1, cancelled: 1, perhapsDelivered: 2 }
  expect((await resend(world, { ...wish, dryRun: true })).body).toEqual(answer(2, left))
  const named = { ...left, optedOut: 1, notFailed: 1 }
  expect((await resend(world, { ...wish, messageIds: ids, dryRun: true })).body).toEqual(answer(2, named))
  expect(await resend(world, wish)).toEqual(sent(2, left))
  expect(await bodiesOf(world, 'queued')).toEqual(['waits', 'opted in again', 'refused'])
  expect(await resend(world, wish)).toEqual(sent(0, { ...left, alreadyResent: 2 }))
  expect(await resend(world, { from: FROM, failure: 'expired' })).toEqual(sent(1, { optedOut: 2 }))
  // A contact who opted out of one number is not texted from another.
  await world.json('PUT', '/v1/opt-outs', { body: { number: FROM, contact: gone, optedOut: false } })
  expect((await resend(world, { from: FROM, failure: 'expired', dryRun: true })).body).toEqual(
    answer(1, { optedOut: 1, alreadyResent: 1 }),
  )
})

test('what may have arrived goes out again only if it is named, one by one, as unconfirmed', async () => {
  await using world = await createWorld({ work: false })
  const [one, two] = [
    await failed(world, MESSAGE_FAILURES.unconfirmed),
    await failed(world, MESSAGE_FAILURES.unconfirmed),
  ]
  const kept = sent(0, { perhapsDelivered: 2 })
  expect(await resend(world, {})).toEqual(kept)
  expect(await resend(world, { failure: 'unconfirmed' })).toEqual(kept)
  expect(await resend(world, { messageIds: [one, two] })).toEqual(kept)
  expect(await resend(world, { failure: 'unconfirmed', messageIds: [one] })).toEqual(sent(1))
  expect(await resend(world, { failure: 'unconfirmed', messageIds: [one, one, two] })).toEqual(
    sent(1, { alreadyResent: 1 }),
  )
})

test('a call takes only what its filters say, and nothing of another tenant', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const second = await world.secondApp()
  const other = await world.otherTenant()
  const foreign = await failed(world, MESSAGE_FAILURES.expired, {}, other.apiKey)
  const early = await failed(world, MESSAGE_FAILURES.expired)
  clock.advance(HOUR_MS)
  const since = new Date(clock.now()).toISOString()
  await failed(world, rejected('Spam', 'SMS-UP-430'), {}, second.apiKey)
  await failed(world, rejected('Bad', 'CMN-101'))
  const count = async (wish: object) => (await resend(world, { ...wish, dryRun: true })).body['resent']
  expect(await count({})).toBe(3)
  expect(await count({ appId: second.appId })).toBe(1)
  expect(await count({ appId: other.appId })).toBe(0)
  expect(await count({ failure: 'rejected' })).toBe(2)
  expect(await count({ failure: 'rejected:CMN-101' })).toBe(1)
  expect(await count({ failedSince: since })).toBe(2)
  expect(await count({ failedUntil: since })).toBe(3)
  expect(await count({ failedUntil: new Date(clock.now() - 1).toISOString() })).toBe(1)
  expect(await count({ failedSince: since.slice(0, 10) })).toBe(3)
  expect(await count({ messageIds: [early, foreign, 'msg_000000000000'] })).toBe(1)
  expect(await count({ messageIds: [early], failure: 'rejected' })).toBe(0)
  expect(await count({ messageIds: [] })).toBe(0)
  expect(
    await count({
      appId: null,
      failure: null,
      failedSince: null,
      failedUntil: null,
      messageIds: null,
      from: null,
      maxAgeMinutes: null,
    }),
  ).toBe(3)
  expect(await resend(world, { messageIds: [foreign] })).toEqual(sent(0))
  expect(await resend(world, { tenantId: other.tenantId })).toEqual(sent(1))
  expect(await bodiesOf(world, 'queued')).toEqual(['Hello'])
})

test('what could not be accepted is refused: of an inactive app, of a suspended tenant, and without its files', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const second = await world.secondApp()
  const mediaIds = [(await uploaded(world, PNG)).mediaId]
  const withFile = await failed(world, MESSAGE_FAILURES.expired, { body: 'picture', from: FROM, mediaIds })
  await failed(world, UNKNOWN, { body: 'of another app' }, second.apiKey)
  await deactivateApp(world.gateway, second)
  expect((await resend(world, { dryRun: true })).body).toEqual(answer(1, {}, 1))
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  expect(await resend(world)).toEqual(sent(0, {}, 2))
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  expect(await resend(world)).toEqual(sent(1, {}, 1))
  const { body } = await world.json<{ messages: object[] }>('GET', '/v1/sms/messages?include=delivery')
  expect(body.messages[0]).toMatchObject({ body: 'picture', status: 'queued', attachments: 1 })
  expect(body.messages).not.toContainEqual(
    expect.objectContaining({ body: 'picture', messageId: withFile, status: 'queued' }),
  )
  const late = await failed(world, MESSAGE_FAILURES.expired, {
    body: 'late',
    from: FROM,
    mediaIds: [(await uploaded(world, PNG)).mediaId],
  })
  await world.gateway.database.gate.execute("UPDATE messages SET updated_at = 0 WHERE body IN ('picture', 'late')")
  await world.gateway.database.gate.execute(`UPDATE messages SET status = 'sent' WHERE status = 'queued'`)
  clock.advance(25 * HOUR_MS)
  expect(await resend(world, { messageIds: [late] })).toEqual(sent(0, {}, 1))
})

test('a wish that cannot be is refused, and nothing is sent', async () => {
  await using world = await createWorld({ work: false })
  await failed(world, UNKNOWN)
  const refusals = [
    [{ tenantId: undefined }, 400, 'Invalid tenantId format'],
    [{ tenantId: 'tenant_0000000000000000' }, 404, 'Tenant not found'],
    [{ appId: 'x' }, 400, 'Invalid appId format'],
    [{ failure: 'failed' }, 400, 'Invalid failure'],
    [{ failure: 1 }, 400, 'Invalid failure'],
    [{ failure: `rejected:${'x'.repeat(65)}` }, 400, 'Invalid failure'],
    [{ failedSince: 'noon' }, 400, 'Invalid failedSince'],
    [{ failedSince: '2026-11-24T10:00:00' }, 400, 'Invalid failedSince'],
    [{ failedUntil: 5 }, 400, 'Invalid failedUntil'],
    [{ messageIds: 'msg_0123456789ab' }, 400, 'Invalid messageId format'],
    [{ messageIds: ['msg_X'] }, 400, 'Invalid messageId format'],
    [{ messageIds: Array(101).fill('msg_0123456789ab') }, 400, 'Invalid messageId format'],
    [{ from: '5550100' }, 400, 'Invalid from'],
    [{ maxAgeMinutes: 0 }, 400, 'Invalid maxAgeMinutes'],
    [{ maxAgeMinutes: 1.5 }, 400, 'Invalid maxAgeMinutes'],
    [{ maxAgeMinutes: '60' }, 400, 'Invalid maxAgeMinutes'],
    [{ dryRun: 'yes' }, 400, 'Invalid dryRun'],
  ] as const
  for (const [wish, status, error] of refusals)
    expect([wish, await resend(world, wish)]).toEqual([wish, { status, body: { error } }])
  expect((await world.json('POST', PATH, { body: { tenantId: world.tenantId } })).status).toBe(403)
  expect((await world.json('POST', PATH, { key: null, body: { tenantId: world.tenantId } })).status).toBe(401)
  expect(await stored(world)).toHaveLength(1)
})

test('a message that fails again can be sent again, and the first one stays sent once', async () => {
  await using world = await createWorld()
  const refuseNext = (): void => world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 400 } })
  refuseNext()
  await world.untilStatus(await world.send({ body: 'again' }), ['failed'])
  refuseNext()
  expect(await resend(world)).toEqual(sent(1))
  await until(async () => (await bodiesOf(world, 'failed')).length === 2)
  expect(await resend(world)).toEqual(sent(1, { alreadyResent: 1 }))
  await until(() => texts(world).length === 1)
  expect(await resend(world)).toEqual(sent(0, { alreadyResent: 2 }))
  expect(texts(world)).toEqual(['again'])
})
