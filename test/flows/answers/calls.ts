import { expect } from 'bun:test'
import { MESSAGE_FAILURES } from '../../../src/core/message-failure.ts'
import { DAY_MS } from '../../../src/core/limits.ts'
import { backFill } from '../../../src/messages/inbound/back-fill.ts'
import type { Ensured } from '../../../src/provider/inbound-subscriptions.ts'
import { sendMedia } from '../../support/media.ts'
import { FROM, TO } from '../../support/world.ts'
import { FaultCase } from '../fault-table/case.ts'
import { pass } from '../fault-table/passing-time.ts'
import type { Answer } from './table.ts'

const MINUTE_MS = 60_000

/** Makes a call that gets the answer until `over`, and says what happens to it. The next call gets the normal answer. */
export type Met = (one: FaultCase, answer: Answer) => Promise<string>

const TRIED_AGAIN = 'tried again'

/** Every call of the route gets the answer. */
function answerWith({ world: { control } }: FaultCase, route: string, { fault }: Answer): void {
  control.clearRequests()
  control.fault({ route, calls: null, fault })
}

/** Ends the answers, with the pauses that they have caused. */
function over({ world: { control }, clock }: FaultCase, route: string, { status }: Answer): void {
  const met = control.requests({ route }).filter((request) => request.status === status)
  expect(met.length).toBeGreaterThanOrEqual(1)
  control.clearFaults()
  if (status === 429) clock.advance(MINUTE_MS)
}

async function keyOf({ world }: FaultCase) {
  const entry = await world.gateway.directory.tenant(world.tenantId)
  const [row] = entry.extensions.values()
  if (row === undefined) throw new Error('No extension is connected')
  return row
}

const untilMet = (one: FaultCase, route: string, { status }: Answer, path = ''): Promise<true> =>
  pass(one, 20 * MINUTE_MS, () => {
    const requests = one.world.control.requests({ route }).filter((request) => request.path.includes(path))
    return requests.some((request) => request.status === status) ? true : null
  })

let contacts = 0
const nextContact = (): string => `+1555556${String(contacts++).padStart(4, '0')}`

/** No message is ever sent twice, and none that was refused has reached the provider. */
const sendText = (one: FaultCase, answer: Answer): Promise<string> =>
  send(one, answer, (to) => one.world.send({ from: FROM, to }))

const sendWithMedia = (one: FaultCase, answer: Answer): Promise<string> =>
  send(one, answer, (to) => sendMedia(one.world, { from: FROM, to, body: 'Look' }))

async function send(one: FaultCase, answer: Answer, begin: (to: string) => Promise<string>): Promise<string> {
  const { world } = one
  const before = one.atProvider
  answerWith(one, 'sms', answer)
  const messageId = await begin(nextContact())
  await untilMet(one, 'sms', answer)
  if (answer.status === 401) await pass(one, MINUTE_MS, async () => ((await closed(one, messageId)) ? true : null))
  world.control.clearFaults()
  const { status, error } = await one.ended(messageId, 5 * MINUTE_MS)
  expect(one.atProvider - before).toBe(status === 'sent' ? 1 : 0)
  if (status === 'failed') return error === MESSAGE_FAILURES.revoked.text ? 'not connected' : 'fails'
  const [first, second] = await attemptsOf(one, messageId)
  if (first?.resolution === 'absent') return 'lookup'
  const waitedMs = Number(second?.startedAt) - Number(first?.startedAt)
  return waitedMs >= MINUTE_MS ? 'a minute' : waitedMs >= 2000 ? 'pause' : `sent after ${waitedMs} ms`
}

async function attemptsOf({ world }: FaultCase, messageId: string) {
  const sql = `SELECT started_at, closed_at, resolution FROM send_attempts WHERE message_id = ?1 ORDER BY seq`
  const { rows } = await world.gateway.database.gate.execute({ sql, args: [messageId] })
  return rows.map((row) => ({
    startedAt: row['started_at'],
    closedAt: row['closed_at'],
    resolution: row['resolution'],
  }))
}

const closed = async (one: FaultCase, messageId: string): Promise<boolean> =>
  (await attemptsOf(one, messageId)).some(({ closedAt }) => closedAt !== null)

async function token(one: FaultCase, answer: Answer): Promise<string> {
  const { gateway } = one.world
  answerWith(one, 'token', answer)
  await gateway.tokens.refresh(await keyOf(one))
  const state = await one.extension()
  over(one, 'token', answer)
  expect((await gateway.tokens.refresh(await keyOf(one))).type).toBe('token')
  expect(await one.extension()).toMatchObject({ status: 'active' })
  return state?.status === 'refresh_failed' ? TRIED_AGAIN : String(state?.status)
}

async function code(one: FaultCase, answer: Answer): Promise<string> {
  answerWith(one, 'token', answer)
  const { status, headers } = await one.world.connect()
  over(one, 'token', answer)
  expect((await one.world.connect()).status).toBe(200)
  return `${headers.has('content-type') ? 'a page' : 'nothing'}, ${status}`
}

async function numbers(one: FaultCase, answer: Answer): Promise<string> {
  const { gateway } = one.world
  answerWith(one, 'phone-number', answer)
  const read = await gateway.numbers.read(await keyOf(one))
  expect(read.type).toBe('failed')
  expect((await one.extension())?.phoneNumbers).toContain(FROM)
  over(one, 'phone-number', answer)
  return (await gateway.numbers.read(await keyOf(one))).type === 'ok' ? TRIED_AGAIN : 'given up'
}

/** In the end there is one subscription, and it is the one from before unless there was none. */
async function ensured(one: FaultCase, answer: Answer, route: string, first: Ensured, then: Ensured): Promise<string> {
  const { gateway, control } = one.world
  const before = control.subscriptions().map(({ subscriptionId }) => subscriptionId)
  answerWith(one, route, answer)
  expect(await gateway.subscriptions.ensure(await keyOf(one))).toBe(first)
  over(one, route, answer)
  expect(await gateway.subscriptions.ensure(await keyOf(one))).toBe(then)
  const after = control.subscriptions().map(({ subscriptionId }) => subscriptionId)
  expect(after).toHaveLength(1)
  if (before.length > 0) expect(before).toEqual(expect.arrayContaining(after))
  return TRIED_AGAIN
}

async function make(one: FaultCase, answer: Answer): Promise<string> {
  const { control } = one.world
  for (const { subscriptionId } of control.subscriptions()) control.deleteSubscription({ subscriptionId })
  return ensured(one, answer, 'subscription-create', 'failed', 'created')
}

async function renew(one: FaultCase, answer: Answer): Promise<string> {
  one.clock.advance(4 * DAY_MS)
  return ensured(one, answer, 'subscription-renew', 'failed', 'kept')
}

const list = (one: FaultCase, answer: Answer): Promise<string> =>
  ensured(one, answer, 'subscription-list', 'failed', 'kept')

/** A crash has left a subscription that no row names. */
async function remove(one: FaultCase, answer: Answer): Promise<string> {
  const { gateway } = one.world
  const key = await keyOf(one)
  await gateway.extensionCalls.make(key, 'medium', (accessToken) =>
    gateway.provider.createSubscription(accessToken, {
      address: one.world.control.subscriptions()[0]?.address ?? '',
      verificationToken: 'of-a-process-that-is-gone',
      topic: 'messages',
    }),
  )
  return ensured(one, answer, 'subscription-delete', 'kept', 'kept')
}

async function fillBack(one: FaultCase, answer: Answer): Promise<string> {
  const { gateway, control } = one.world
  control.faultEvents({ kind: 'drop' })
  await control.injectSms({ to: FROM, text: answer.name })
  answerWith(one, 'message-store', answer)
  expect(await backFill(gateway, await keyOf(one))).toBeNull()
  over(one, 'message-store', answer)
  return (await backFill(gateway, await keyOf(one))) === 1 ? TRIED_AGAIN : 'missed'
}

/** The answer to a send was lost, and the listing that would find it fails. */
async function lookup(one: FaultCase, answer: Answer): Promise<string> {
  const { control } = one.world
  const before = one.atProvider
  control.fault({ route: 'sms', fault: { kind: 'accept-then-reset' } })
  answerWith(one, 'message-store', answer)
  const messageId = await one.world.send({ from: FROM, to: nextContact() })
  await untilMet(one, 'message-store', answer, 'direction=Outbound')
  control.clearFaults()
  const { status } = await one.ended(messageId, 5 * MINUTE_MS)
  expect({ status, sent: one.atProvider - before }).toEqual({ status: 'sent', sent: 1 })
  return (await one.attempts(messageId)).length === 1 ? TRIED_AGAIN : 'sent again'
}

async function poll(one: FaultCase, answer: Answer): Promise<string> {
  const { world } = one
  const messageId = await world.send({ from: FROM, to: nextContact() })
  await one.ended(messageId, MINUTE_MS)
  answerWith(one, 'message-store', answer)
  await untilMet(one, 'message-store', answer, 'direction=Outbound')
  world.control.clearFaults()
  const isDelivered = async (): Promise<true | null> =>
    (await world.json('GET', `/v1/sms/${messageId}/timeline`)).body['deliveryStatus'] === 'delivered' ? true : null
  await pass(one, 60 * MINUTE_MS, isDelivered, 5000)
  return TRIED_AGAIN
}

async function picture(one: FaultCase, answer: Answer): Promise<string> {
  const { world } = one
  // Attachments take slots of the extension's window.
  one.clock.advance(MINUTE_MS)
  const { body } = await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages')
  const path = `/v1/sms/${body.messages[0]?.messageId}/attachments`
  const { attachments } = (await world.json<{ attachments: { attachmentId: string }[] }>('GET', path)).body
  answerWith(one, 'content', answer)
  const { status } = await world.call('GET', `${path}/${attachments[0]?.attachmentId}`)
  over(one, 'content', answer)
  expect((await world.call('GET', `${path}/${attachments[0]?.attachmentId}`)).status).toBe(200)
  return status === 200 ? 'passed on' : String(status)
}

async function revoke(one: FaultCase, answer: Answer): Promise<string> {
  answerWith(one, 'revoke', answer)
  expect((await one.world.call('POST', '/v1/rc/disconnect')).status).toBe(200)
  over(one, 'revoke', answer)
  const left = await one.extension()
  expect((await one.world.connect()).status).toBe(200)
  return left === null ? 'gone here' : 'still here'
}

const quiet = (): Promise<FaultCase> => FaultCase.open({ work: false })

async function withPicture(): Promise<FaultCase> {
  const one = await FaultCase.open()
  const attachments = [{ contentType: 'image/png', fileName: 'dot.png', data: 'AAAA' }]
  await one.world.control.injectSms({ from: TO, to: FROM, text: 'Look', attachments })
  return one
}

async function delivering(): Promise<FaultCase> {
  const one = await FaultCase.open()
  one.world.control.configure({ deliveredAfterMs: 1000 })
  return one
}

/** How to open a gateway for the answers of a call, and what to do with each. */
export const MEETINGS: Record<string, [open: () => Promise<FaultCase>, met: Met]> = {
  send: [FaultCase.open.bind(FaultCase), sendText],
  media: [FaultCase.open.bind(FaultCase), sendWithMedia],
  token: [quiet, token],
  code: [quiet, code],
  numbers: [quiet, numbers],
  make: [quiet, make],
  renew: [quiet, renew],
  list: [quiet, list],
  delete: [quiet, remove],
  'back-fill': [quiet, fillBack],
  lookup: [FaultCase.open.bind(FaultCase), lookup],
  poll: [delivering, poll],
  picture: [withPicture, picture],
  revoke: [quiet, revoke],
}
