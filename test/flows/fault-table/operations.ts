import { expect } from 'bun:test'
import { MESSAGE_FAILURES } from '../../../src/core/message-failure.ts'
import { FROM } from '../../support/world.ts'
import { FaultCase } from './case.ts'
import { type ProviderFault, RETRY_AFTER_S, timeoutOf } from './faults.ts'
import { pass } from './passing-time.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const DAY_MS = 24 * 60 * MINUTE_MS
/** For waits of many minutes. */
const LONG_STEP_MS = 5 * SECOND_MS
const DELIVERED = ['queued', 'sending', 'sent']
/** The real time that a call may take beyond its limit on a slow machine. */
const SLACK_MS = 5000

/** The result of each fault for an SMS, and the minimum time between two attempts. */
const MEANING: Record<string, SendMeaning> = {
  refused: { end: 'sent again', afterMs: 2 * SECOND_MS },
  'DNS failure': { end: 'sent again', afterMs: 2 * SECOND_MS },
  'TLS name mismatch': { end: 'sent again', afterMs: 2 * SECOND_MS },
  'expired certificate': { end: 'sent again', afterMs: 2 * SECOND_MS },
  'reset before read': { end: 'sent again', afterMs: 30 * SECOND_MS },
  'reset after accept': { end: 'found' },
  'close after accept': { end: 'found' },
  'timeout before accept': { end: 'sent again', afterMs: 30 * SECOND_MS },
  'timeout after accept': { end: 'found' },
  'dripping headers': { end: 'found' },
  'dripping body': { end: 'found' },
  '200 without id': { end: 'found' },
  '200 with HTML': { end: 'found' },
  '200 with truncated JSON': { end: 'found' },
  '400 MSG-245': {
    end: 'refused',
    error: 'Provider rejected the message: Parameter [from] value is invalid (MSG-245)',
  },
  '401 once': { end: 'found' },
  '401 always': { end: 'refused', error: MESSAGE_FAILURES.revoked.text },
  '403': { end: 'refused', error: '(CMN-408)' },
  '403 with HTML': { end: 'sent again', afterMs: 2 * SECOND_MS },
  '404': { end: 'refused', error: '(CMN-101)' },
  '429 with Retry-After': { end: 'sent again', afterMs: RETRY_AFTER_S * SECOND_MS },
  '429 without Retry-After': { end: 'sent again', afterMs: MINUTE_MS },
  '500': { end: 'sent again', afterMs: 3 * SECOND_MS },
  '502 after accept': { end: 'found' },
  '503': { end: 'sent again', afterMs: 2 * SECOND_MS },
}

/** `found`: one attempt was enough, with a lookup or a new token. */
type SendMeaning = { end: 'found' } | { end: 'sent again'; afterMs: number } | { end: 'refused'; error: string }

const sendText = (fault: ProviderFault): Promise<void> => send(fault, false)
const sendWithMedia = (fault: ProviderFault): Promise<void> => send(fault, true)

async function send(fault: ProviderFault, withMedia: boolean): Promise<void> {
  await using one = await FaultCase.open()
  one.applyFault({ method: 'sendSms', route: 'sms' }, fault, 1)
  const meaning = MEANING[fault.name] as SendMeaning
  const messageId = await one.send(withMedia)
  const { status, error, tookMs } = await one.ended(messageId, 5 * MINUTE_MS)
  const attempts = await one.attempts(messageId)
  if (meaning.end === 'refused') {
    expect({ status, attempts: attempts.length, atProvider: one.atProvider }).toEqual({
      status: 'failed',
      attempts: 1,
      atProvider: 0,
    })
    expect(error).toContain(meaning.error)
    expect(one.events).toEqual(['queued', 'sending', 'failed'])
    return
  }
  const again = meaning.end === 'sent again'
  expect({ status, attempts: attempts.length, atProvider: one.atProvider }).toEqual({
    status: 'sent',
    attempts: again ? 2 : 1,
    atProvider: 1,
  })
  const carried = one.world.control.messages({ direction: 'Outbound' }).flatMap(({ attachments }) => attachments)
  expect(carried.map(({ contentType }) => contentType)).toEqual(withMedia ? ['image/png'] : [])
  expect(one.events).toEqual(DELIVERED)
  if (again) expect((attempts[1] ?? 0) - (attempts[0] ?? 0)).toBeGreaterThanOrEqual(meaning.afterMs)
  expect(tookMs).toBeLessThan((again ? meaning.afterMs : 0) + 2 * MINUTE_MS)
}

/**
 * Two refreshes fail: the message stays `queued` and the extension is `refresh_failed` until the third refresh
 * succeeds.
 */
async function refresh(fault: ProviderFault): Promise<void> {
  await using one = await FaultCase.open({ work: false })
  const { clock, world } = one
  clock.advance(60 * MINUTE_MS - 30 * SECOND_MS)
  world.control.clearRequests()
  one.applyFault({ method: 'refresh', route: 'token' }, fault, 2)
  const messageId = await one.send()
  world.running.work()
  await pass(one, MINUTE_MS, async () => ((await one.extension())?.status === 'refresh_failed' ? true : null))
  expect(await world.status(messageId)).toMatchObject({ status: 'queued' })
  expect(one.atProvider).toBe(0)
  if (fault.always === true) return await neverRefreshed(one, messageId)
  const { status, tookMs } = await one.ended(messageId, 10 * MINUTE_MS, LONG_STEP_MS)
  expect({ status, atProvider: one.atProvider, events: one.events }).toEqual({
    status: 'sent',
    atProvider: 1,
    events: DELIVERED,
  })
  expect(await one.extension()).toMatchObject({ status: 'active' })
  // The backoff is 10 s after the first failure and a minute after the second, or the provider's Retry-After.
  expect(tookMs).toBeLessThan(4 * MINUTE_MS)
}

/** Refreshes with a growing backoff, sends nothing and loses nothing. */
async function neverRefreshed(one: FaultCase, messageId: string): Promise<void> {
  const until = one.clock.now() + 20 * MINUTE_MS
  await pass(one, 21 * MINUTE_MS, () => (one.clock.now() >= until ? true : null), LONG_STEP_MS)
  const tries = one.world.control.requests({ route: 'token' }).map(({ at }) => at)
  expect(tries.length).toBeGreaterThanOrEqual(4)
  expect(tries.length).toBeLessThanOrEqual(8)
  expect(await one.extension()).toMatchObject({ status: 'refresh_failed' })
  expect(await one.world.status(messageId)).toMatchObject({ status: 'queued' })
  expect({ events: one.events, atProvider: one.atProvider }).toEqual({ events: ['queued'], atProvider: 0 })
}

/** A code is used once: the page shows the failure, nothing is stored, and the next link works. */
async function exchange(fault: ProviderFault): Promise<void> {
  await using one = await FaultCase.open({ connect: false })
  one.applyFault({ method: 'exchangeCode', route: 'token' }, fault, 1)
  const startedAt = performance.now()
  const failed = await one.world.connect()
  expect(failed.status).toBe(502)
  expect(performance.now() - startedAt).toBeLessThan(timeoutOf(fault) + SLACK_MS)
  expect(await one.extension()).toBeNull()
  expect(one.world.control.subscriptions()).toEqual([])
  expect((await one.world.json('GET', '/v1/rc/status')).body).toEqual({ connected: false })
  one.world.control.clearFaults()
  expect((await one.world.connect()).status).toBe(200)
  expect(await one.extension()).toMatchObject({
    status: 'active',
    phoneNumbers: expect.arrayContaining([FROM]) as string[],
  })
}

/**
 * The extension is connected. A message from a number that is not known yet waits for the next number lookup and does
 * not fail.
 */
async function discoverNumbers(fault: ProviderFault): Promise<void> {
  await using one = await FaultCase.open({ connect: false })
  one.applyFault({ method: 'listNumbers', route: 'phone-number' }, fault, fault.name === '401 once' ? 1 : 2)
  expect((await one.world.connect()).status).toBe(200)
  const known = fault.name === '401 once'
  expect(await one.extension()).toMatchObject({
    status: 'active',
    phoneNumbers: known ? [FROM, expect.any(String)] : [],
  })
  const messageId = await one.send()
  if (fault.always === true) {
    const until = one.clock.now() + 2 * MINUTE_MS
    await pass(one, 3 * MINUTE_MS, () => (one.clock.now() >= until ? true : null), LONG_STEP_MS)
    expect(await one.world.status(messageId)).toMatchObject({ status: 'queued' })
    expect({ events: one.events, atProvider: one.atProvider }).toEqual({ events: ['queued'], atProvider: 0 })
    return
  }
  const { status, tookMs } = await one.ended(messageId, 5 * MINUTE_MS)
  expect({ status, atProvider: one.atProvider, events: one.events }).toEqual({
    status: 'sent',
    atProvider: 1,
    events: DELIVERED,
  })
  expect(tookMs).toBeLessThan(3 * MINUTE_MS)
}

/** The extension is connected. The periodic check creates exactly one subscription, and messages arrive. */
async function createSubscription(fault: ProviderFault): Promise<void> {
  await using one = await FaultCase.open({ connect: false })
  const { world } = one
  one.applyFault({ method: 'createSubscription', route: 'subscription-create' }, fault, 1)
  expect((await world.connect()).status).toBe(200)
  expect(await one.extension()).toMatchObject({ status: 'active' })
  const lost = await world.control.injectSms({ to: FROM, text: 'Before' })
  const active = async (): Promise<true | null> =>
    (await activeHere(one)) === 1 && world.control.subscriptions().length === 1 ? true : null
  expect(await inTime(pass(one, 12 * MINUTE_MS, active, LONG_STEP_MS))).toBe(fault.always !== true)
  const late = await world.control.injectSms({ to: FROM, text: 'After' })
  await pass(one, 16 * MINUTE_MS, async () => ((await inboundIds(one)).length >= 2 ? true : null), LONG_STEP_MS)
  expect((await inboundIds(one)).toSorted()).toEqual([lost.messageId, late.messageId].toSorted())
  expect(world.control.subscriptions().length).toBe(fault.always === true ? 0 : 1)
}

/** A failed renewal loses nothing: it runs at half of the subscription's lifetime, so later renewals are in time. */
async function renew(fault: ProviderFault): Promise<void> {
  await using one = await FaultCase.open()
  const { world, clock } = one
  await pass(one, MINUTE_MS, async () => ((await activeHere(one)) === 1 ? true : null))
  const [before] = world.control.subscriptions()
  one.applyFault({ method: 'renewSubscription', route: 'subscription-renew' }, fault, 1)
  clock.advance(4 * DAY_MS)
  const renewed = (): true | null =>
    (world.control.subscriptions()[0]?.expiresAt ?? 0) > clock.now() + 6 * DAY_MS ? true : null
  const asked = (): true | null =>
    world.control.requests({ route: 'subscription-renew' }).length > 0 || fault.dial !== undefined ? true : null
  await pass(one, MINUTE_MS, asked)
  expect(await inTime(pass(one, 25 * MINUTE_MS, renewed, LONG_STEP_MS))).toBe(fault.always !== true)
  const [after, ...others] = world.control.subscriptions()
  expect({ id: after?.subscriptionId, status: after?.status, others }).toEqual({
    id: before?.subscriptionId,
    status: 'Active',
    others: [],
  })
  expect(world.control.requests({ route: 'subscription-delete' })).toEqual([])
  const { deliveries } = await world.control.injectSms({ to: FROM, text: 'Still here' })
  expect(deliveries).toHaveLength(1)
  expect(await inboundIds(one)).toHaveLength(1)
}

/** Whether the promise resolved in time. */
const inTime = (waiting: Promise<unknown>): Promise<boolean> =>
  waiting.then(
    () => true,
    () => false,
  )

/** Returns the number of subscriptions that are active in the gateway's database. */
async function activeHere(one: FaultCase): Promise<number> {
  const { rows } = await one.world.gateway.database.gate.execute(
    `SELECT count(*) AS active FROM subscriptions WHERE status = 'active'`,
  )
  return Number(rows[0]?.['active'])
}

async function inboundIds(one: FaultCase): Promise<string[]> {
  const { body } = await one.world.json<{ messages: { rcMessageId: string }[] }>(
    'GET',
    '/v1/sms/messages?direction=inbound',
  )
  return body.messages.map((message) => message.rcMessageId)
}

export const OPERATIONS: Record<string, (fault: ProviderFault) => Promise<void>> = {
  send: sendText,
  'send with media': sendWithMedia,
  'token refresh': refresh,
  'code exchange': exchange,
  'number discovery': discoverNumbers,
  'subscription create': createSubscription,
  'subscription renew': renew,
}
