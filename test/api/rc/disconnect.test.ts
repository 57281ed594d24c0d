import { expect, spyOn, test } from 'bun:test'
import { disconnect } from '../../../src/api/rc/disconnect.ts'
import { SendBody } from '../../../src/api/sms/schemas.ts'
import { send } from '../../../src/api/sms/send.ts'
import { holdCalls } from '../../support/held-calls.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { readyWorld } from '../../support/ready-world.ts'
import { createWorld, FROM, FROM_2, TO, until } from '../../support/world.ts'

const NOT_CONNECTED = 'Telephony provider not connected for this tenant'
const OK = { status: 200, body: { ok: true } }

test('disconnect ends the connection in the gateway and at the provider', async () => {
  await using world = await createWorld()
  expect(await world.json('POST', '/v1/rc/disconnect')).toEqual(OK)
  expect((await world.json('GET', '/v1/rc/status')).body).toEqual({ connected: false })
  expect((await world.json('GET', '/v1/rc/extensions')).body).toEqual({ extensions: [] })
  expect(world.control.subscriptions()).toEqual([])
  expect(world.control.sessions()).toEqual([])
  for (const table of ['extensions', 'phone_numbers', 'subscriptions', 'oauth_states']) {
    expect((await world.gateway.database.gate.execute(`SELECT * FROM ${table}`)).rows).toEqual([])
  }
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'failed', error: NOT_CONNECTED })
})

test('disconnect answers 200 even if nothing is connected', async () => {
  await using world = await createWorld({ connect: false })
  expect(await world.json('POST', '/v1/rc/disconnect')).toEqual(OK)
  expect(await world.json('POST', '/v1/rc/disconnect')).toEqual(OK)
})

test('disconnect works although the provider does not answer', async () => {
  await using world = await createWorld({ env: { PROVIDER_TIMEOUT: '200ms' } })
  world.control.fault({ route: '*', calls: null, fault: { kind: 'respond', status: 503 } })
  expect(await world.json('POST', '/v1/rc/disconnect')).toEqual(OK)
  expect((await world.json('GET', '/v1/rc/status')).body).toEqual({ connected: false })
})

test('a disconnect fails queued messages as not connected', async () => {
  await using world = await createWorld({ work: false })
  const ids = await Promise.all(['1', '2', '3'].map((body) => world.send({ body })))
  await world.call('POST', '/v1/rc/disconnect')
  world.running.work()
  for (const id of ids) expect(await world.untilStatus(id)).toMatchObject({ status: 'failed', error: NOT_CONNECTED })
  expect(world.control.requests({ route: 'sms' })).toEqual([])
})

test('a send under way ends before the disconnect, and messages behind it fail', async () => {
  await using world = await createWorld({ env: { FROM_LIMIT_PER_MINUTE: '1' } })
  const release = holdCalls(world, 'sendSms', 'under way')
  const underWay = await world.send({ body: 'under way' })
  await world.untilStatus(underWay, ['sending'])
  const behind = await world.send({ body: 'behind' })
  const elsewhere = await world.send({ body: 'elsewhere', from: FROM_2 })
  await world.untilStatus(elsewhere, ['sent'])
  const disconnected = world.json('POST', '/v1/rc/disconnect')
  await until(() => world.gateway.directory.isDisconnecting(world.tenantId, null))
  release()
  expect(await disconnected).toEqual(OK)
  expect(await world.status(underWay)).toMatchObject({ status: 'sent', error: null })
  expect(await world.untilStatus(behind)).toMatchObject({ status: 'failed', error: NOT_CONNECTED })
  expect(
    world.control
      .messages({ direction: 'Outbound' })
      .map((message) => message.text)
      .toSorted(),
  ).toEqual(['elsewhere', 'under way'])
})

/** Lets time pass until the work has ended. */
async function passing<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => (isDone = true))
  await until(() => (clock.advance(50), isDone))
  return done
}

test('disconnect waits for a send that is accepted at the same time', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock, env: { RECONCILE_SETTLE: '300ms' } })
  const { gateway, tenantId } = world
  world.control.fault({ route: 'sms', calls: null, fault: { kind: 'accept-then-reset' } })
  const message = SendBody.parse({ from: FROM, to: TO, body: 'the last one' })
  const accepted = send(gateway, { tenantId, appId: world.app.appId }, message, null)
  const [{ messageId }] = await passing(clock, Promise.all([accepted, disconnect(gateway, { tenantId })]))
  // The attempt began with the message. Disconnect must wait for it, because no lookup is possible afterwards.
  const { rows } = await gateway.database.gate.execute('SELECT message_id FROM send_attempts')
  expect(rows.map((row) => row['message_id'])).toEqual([messageId])
  expect(await passing(clock, world.untilStatus(messageId))).toMatchObject({ status: 'sent', error: null })
})

test('disconnect waits for an attempt that is just being opened', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  const { gate } = world.gateway.database
  const execute = gate.execute.bind(gate)
  const held = Promise.withResolvers<void>()
  let isHeld = false
  const spy = spyOn(gate, 'execute').mockImplementation(async (statement) => {
    const isLoading =
      typeof statement !== 'string' &&
      statement.sql.includes('AS absents') &&
      JSON.stringify(statement.args).includes('msg_')
    if (isLoading && !isHeld) {
      isHeld = true
      await held.promise
    }
    return execute(statement)
  })
  world.control.fault({ route: 'sms', fault: { kind: 'delay', ms: 300 } })
  const first = await world.send({ body: 'first' })
  // The second message waits for the first one of its conversation.
  const second = await world.send({ body: 'second' })
  // While the first call runs the clock stands still: on a busy machine it would run past the timeout of the call.
  await until(async () => isHeld || (await world.status(first))['status'] === 'sent')
  await until(() => (clock.advance(50), isHeld))
  let looks = 0
  const waiting = until(() => ++looks === 30 && 'waiting')
  const disconnected = disconnect(world.gateway, { tenantId: world.tenantId })
  expect(await passing(clock, Promise.race([disconnected, waiting]))).toBe('waiting')
  held.resolve()
  expect(await passing(clock, disconnected)).toEqual({ ok: true })
  spy.mockRestore()
  expect(await world.status(second)).toMatchObject({ status: 'sent', error: null })
})

test('another tenant with the same extension stays connected', async () => {
  await using world = await createWorld()
  const other = await world.otherTenant()
  await world.connect({ tenantId: other.tenantId })
  await world.call('POST', '/v1/rc/disconnect')
  expect((await world.json('GET', '/v1/rc/status', { key: other.apiKey })).body['connected']).toBe(true)
  const theirs = await world.send({ body: 'theirs' }, { key: other.apiKey })
  await until(async () => (await world.status(theirs, { key: other.apiKey }))['status'] === 'sent')
})

test('another tenant that connects the same extension meanwhile gets its subscription', async () => {
  await using world = await createWorld()
  const { tenantId } = await world.otherTenant()
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  world.control.fault({ route: 'subscription-create', fault: { kind: 'delay', ms: 300 } })
  const connected = world.connect({ tenantId, extensionId })
  await until(() => world.control.subscriptions().length === 2)
  const [response] = await Promise.all([connected, disconnect(world.gateway, { tenantId: world.tenantId })])
  expect(response.status).toBe(200)
  const { rows } = await world.gateway.database.gate.execute('SELECT provider_id FROM subscriptions')
  expect(rows.map((row) => row['provider_id'])).toEqual(
    world.control.subscriptions().map(({ subscriptionId }) => subscriptionId),
  )
})

test('a check of the subscription while it is being removed creates no other one', async () => {
  await using world = await createWorld()
  const { subscriptions } = world.gateway
  const remove = subscriptions.remove.bind(subscriptions)
  const watched: string[] = []
  subscriptions.remove = async (key) => {
    const [, ensured] = await Promise.all([remove(key), subscriptions.ensure(key)])
    watched.push(ensured)
  }
  await disconnect(world.gateway, { tenantId: world.tenantId })
  expect(watched).toEqual(['failed'])
  expect(world.control.subscriptions()).toEqual([])
  expect((await world.gateway.database.gate.execute('SELECT * FROM subscriptions')).rows).toEqual([])
})

test('after a new connection sending works again', async () => {
  await using world = await createWorld()
  await world.call('POST', '/v1/rc/disconnect')
  expect((await world.connect()).status).toBe(200)
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
})

test('simultaneous disconnects all answer 200', async () => {
  await using world = await createWorld()
  const responses = await Promise.all([1, 2, 3].map(() => world.json('POST', '/v1/rc/disconnect')))
  expect(responses).toEqual([OK, OK, OK])
})

test('of many calls at once, one cleans up at the provider', async () => {
  await using world = await createWorld()
  const [extension] = world.control.extensions()
  const path = `/v1/rc/extensions/${extension?.extensionId}`
  world.control.clearRequests()
  const answers = await Promise.all(Array.from({ length: 30 }, () => world.json('DELETE', path)))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  const revokes = world.control.requests().filter((request) => request.path.includes('/oauth/revoke'))
  expect(revokes).toHaveLength(1)
})
