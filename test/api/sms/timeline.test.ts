import { expect, test } from 'bun:test'
import type { ExtensionKey } from '../../../src/provider/extension-rows.ts'
import { recoverSending } from '../../../src/messages/sending/recover.ts'
import { expectError } from '../../support/expect-error.ts'
import { holdCalls } from '../../support/held-calls.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { readyWorld } from '../../support/ready-world.ts'
import { startReceiver } from '../../support/receiver.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

interface TimelineView {
  messageId: string
  status: string
  deliveryStatus: string | null
  waiting: unknown
  entries: Record<string, unknown>[]
}

const START = '2026-11-21T02:30:00.000Z'

async function timeline(world: World, messageId: string): Promise<TimelineView> {
  const { status, body } = await world.json<TimelineView>('GET', `/v1/sms/${messageId}/timeline`)
  expect(status).toBe(200)
  return body
}

async function extensionOf({ gateway, tenantId }: World): Promise<ExtensionKey> {
  const [extensionId = ''] = (await gateway.directory.tenant(tenantId)).extensions.keys()
  return { tenantId, extensionId }
}

/** The attempts whose call has ended. */
const endedAttempts = ({ entries }: TimelineView): number =>
  entries.filter(({ type, durationMs }) => type === 'attempt' && durationMs !== null).length

const entryTypes = ({ entries }: TimelineView): unknown[] => entries.map(({ type }) => type)

test('a waiting message has one entry', async () => {
  await using world = await createWorld({ clock: manualClock(), work: false })
  const messageId = await world.send()
  expect(await timeline(world, messageId)).toEqual({
    messageId,
    status: 'queued',
    deliveryStatus: null,
    waiting: null,
    entries: [{ at: START, type: 'queued' }],
  })
})

test('a text that waited for a pause says so after it is sent: what met the 429 before or while it waited, and nothing else', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const heldOf = async (messageId: string) =>
    (await timeline(world, messageId)).entries.flatMap(({ type, heldBy = '' }) => (type === 'attempt' ? [heldBy] : []))
  const untilSent = (messageId: string) =>
    until(async () => {
      clock.advance(500)
      return (await world.status(messageId))['status'] === 'sent'
    })
  const early = await world.send({ to: '+15555550190' })
  await untilSent(early)
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '20' } } })
  const met = await world.send({ to: '+15555550191' })
  await until(async () => endedAttempts(await timeline(world, met)) === 1)
  clock.advance(5000)
  const held = await world.send({ to: '+15555550192' })
  await untilSent(held)
  await untilSent(met)
  const later = await world.send({ to: '+15555550193' })
  await untilSent(later)
  expect(await heldOf(early)).toEqual([''])
  expect(await heldOf(met)).toEqual(['', ''])
  expect(await heldOf(held)).toEqual(['provider_paused'])
  expect(await heldOf(later)).toEqual([''])
})

test('the timeline has each attempt with its outcome and RingCentral’s status and code', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { provider } = world.gateway
  const send = provider.sendSms
  provider.sendSms = (token, message) => {
    clock.advance(40)
    return send(token, message)
  }
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '5' } } })
  const messageId = await world.send()
  await until(async () => endedAttempts(await timeline(world, messageId)) === 1)
  expect((await timeline(world, messageId)).entries[1]).toEqual({
    at: START,
    type: 'attempt',
    number: 1,
    outcome: 'not_accepted',
    httpStatus: 429,
    errorCode: 'CMN-301',
    durationMs: 40,
    message: 'Request rate exceeded',
  })
  world.control.fault({ route: 'sms', fault: { kind: 'reset' } })
  clock.advance(5000)
  const unknown = { at: '2026-11-21T02:30:05.040Z', type: 'attempt', number: 2, outcome: 'unknown', durationMs: 40 }
  await until(async () => endedAttempts(await timeline(world, messageId)) === 2)
  expect((await timeline(world, messageId)).entries[2]).toMatchObject(unknown)
  await until(async () => {
    clock.advance(2500)
    return (await world.status(messageId))['status'] === 'sent'
  })
  const ended = await timeline(world, messageId)
  expect(entryTypes(ended)).toEqual(['queued', 'attempt', 'attempt', 'attempt', 'sent'])
  expect(ended.entries[2]).toMatchObject(unknown)
  expect(ended).toMatchObject({ status: 'sent', deliveryStatus: 'pending', waiting: null })
})

test('of long words of the provider an attempt shows 200 characters, without the token', async () => {
  await using world = await createWorld()
  const token = world.gateway.tokens.known(await extensionOf(world))
  if (token?.type !== 'token') throw new Error('The token is not known')
  const message = `Refused ${token.accessToken} ${'x'.repeat(300)}`
  const body = { errorCode: 'CMN-101', message }
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 400, body } })
  const messageId = await world.send()
  await world.untilStatus(messageId, ['failed'])
  const [, attempt] = (await timeline(world, messageId)).entries
  expect(String(attempt?.['message'])).toMatch(/^Refused \S+ x+$/)
  expect(String(attempt?.['message'])).not.toContain(token.accessToken)
  expect(String(attempt?.['message'])).toHaveLength(200)
})

test('an attempt is shown while its call is under way, without a duration', async () => {
  await using world = await createWorld({ clock: manualClock() })
  const release = holdCalls(world, 'sendSms')
  const messageId = await world.send()
  await until(async () => (await timeline(world, messageId)).status === 'sending')
  expect((await timeline(world, messageId)).entries).toEqual([
    { at: START, type: 'queued' },
    { at: START, type: 'attempt', number: 1, outcome: 'unknown', durationMs: null },
  ])
  release()
  await world.untilStatus(messageId)
  expect((await timeline(world, messageId)).entries[1]).toMatchObject({ outcome: 'accepted', durationMs: 0 })
})

test('a call whose process died has no duration', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const messageId = await world.send()
  await world.gateway.database.gate.execute({
    sql: `INSERT INTO send_attempts (message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at)
      VALUES (?1, ?2, ?3, ?4, ?5, 'dead', ?6)`,
    args: [messageId, world.tenantId, (await extensionOf(world)).extensionId, FROM, TO, clock.now()],
  })
  await recoverSending(world.gateway.sending)
  expect((await timeline(world, messageId)).entries[1]).toMatchObject({ outcome: 'unknown', durationMs: null })
})

test('a failed message has a reason and no delivery status', async () => {
  await using world = await createWorld({ clock: manualClock() })
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 400 } })
  const messageId = await world.send()
  const { error } = await world.untilStatus(messageId, ['failed'])
  const view = await timeline(world, messageId)
  expect(view).toMatchObject({ status: 'failed', deliveryStatus: null, waiting: null })
  expect(view.entries[1]).toMatchObject({ type: 'attempt', number: 1, outcome: 'rejected', httpStatus: 400 })
  expect(view.entries[2]).toEqual({ at: START, type: 'failed', error })
})

test('of a revoked extension the attempt shows the 401 and the provider’s words', async () => {
  await using world = await readyWorld()
  world.control.revokeTokens({ extensionId: (await extensionOf(world)).extensionId })
  const messageId = await world.send()
  const { error } = await world.untilStatus(messageId, ['failed'])
  expect((await timeline(world, messageId)).entries).toEqual([
    { at: START, type: 'queued' },
    {
      at: START,
      type: 'attempt',
      number: 1,
      outcome: 'not_accepted',
      httpStatus: 401,
      errorCode: expect.any(String),
      durationMs: 0,
      message: expect.any(String),
    },
    { at: START, type: 'failed', error },
  ])
  const next = await world.send()
  await world.untilStatus(next, ['failed'])
  expect(entryTypes(await timeline(world, next))).toEqual(['queued', 'failed'])
})

test('a 401 is shown too while the refresh of the token fails', async () => {
  // A call of the connection's own that meets the 401 first would leave the message without an attempt.
  await using world = await readyWorld()
  const { extensionId } = await extensionOf(world)
  world.control.expireTokens({ extensionId })
  world.control.fault({ route: 'token', fault: { kind: 'respond', status: 503 } })
  const messageId = await world.send()
  await until(async () => endedAttempts(await timeline(world, messageId)) === 1)
  expect((await timeline(world, messageId)).entries[1]).toMatchObject({ outcome: 'not_accepted', httpStatus: 401 })
})

test('a cancelled message has no attempt', async () => {
  await using world = await createWorld({ clock: manualClock(), work: false })
  const messageId = await world.send()
  await world.call('DELETE', `/v1/sms/${messageId}`)
  expect((await timeline(world, messageId)).entries).toEqual([
    { at: START, type: 'queued' },
    { at: START, type: 'failed', error: 'Cancelled before sending' },
  ])
})

test('an inbound message has its arrival and each webhook attempt', async () => {
  await using receiver = startReceiver(500)
  await using world = await createWorld({ clock: manualClock() })
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hi' })
  await receiver.received(1)
  const list = await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages?direction=inbound')
  const messageId = list.body.messages[0]?.messageId ?? ''
  await until(async () => (await timeline(world, messageId)).entries.length === 2)
  expect(await timeline(world, messageId)).toEqual({
    messageId,
    status: 'received',
    deliveryStatus: null,
    waiting: null,
    entries: [
      { at: START, type: 'received', attachments: 0 },
      {
        at: START,
        type: 'webhook',
        deliveryId: `${messageId}:${world.app.appId}`,
        attemptNumber: 1,
        outcome: 'http_error',
      },
    ],
  })
})

test('of very many webhook attempts a timeline has the newest', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gateway, tenantId, app } = world
  const { gate } = gateway.database
  const messageId = 'msg_0123456789ab'
  await gate.execute(`INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
    VALUES ('${messageId}', 'job_1', '${tenantId}', '${app.appId}', 'inbound', '${TO}', '${FROM}', 'Hi', 'received', 1, 1)`)
  await gate.execute(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO webhook_attempts (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome)
    SELECT '${messageId}:app_' || (i % 2), i, '${tenantId}', 'app', 'app_' || (i % 2), '${messageId}', '', '', '', 1000 + i, 'success' FROM n`)
  const { entries } = await timeline(world, messageId)
  expect(entries).toHaveLength(1001)
  expect(entries.slice(1).map(({ attemptNumber }) => attemptNumber)).toEqual(
    Array.from({ length: 1000 }, (_, index) => 4001 + index),
  )
})

test('a timeline is shown only to its own tenant, and a malformed id is refused', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const messageId = await world.send()
  const { apiKey: key } = await world.otherTenant()
  await expectError(await world.call('GET', `/v1/sms/${messageId}/timeline`, { key }), 404, 'Message not found')
  await expectError(await world.call('GET', '/v1/sms/msg_ABCDEFABCDEF/timeline'), 400, 'Invalid messageId format')
  expect((await world.call('POST', `/v1/sms/${messageId}/timeline`)).status).toBe(404)
})
