import { expect, test } from 'bun:test'
import { readTimeline } from '../../../src/api/sms/timeline.ts'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { quarantine } from '../../support/quarantine.ts'
import { worldWithEmptyWindows } from '../../support/ready-world.ts'
import { untilSnoozed } from '../../support/snoozed.ts'
import { FROM, FROM_2, type World, createWorld, until } from '../../support/world.ts'

interface Waiting {
  reason: string
  until?: string
}

/** A world whose provider has no limits of its own. */
async function openWorld(env: Record<string, string> = {}): Promise<{ world: World; clock: ManualClock }> {
  const opened = await worldWithEmptyWindows(env)
  opened.world.control.setLimits({ enabled: false })
  return opened
}

const to = (index: number): string => `+1555777${1000 + index}`

async function sendTo(world: World, count: number, from = FROM): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) ids.push(await world.send({ from, to: to(index) }))
  return ids
}

/** Returns the waiting reason, which the timeline and the list must show alike. */
async function waiting(world: World, messageId: string): Promise<Waiting | null> {
  const timeline = await world.json<{ waiting: Waiting | null }>('GET', `/v1/sms/${messageId}/timeline`)
  const list = await world.json<{ messages: { messageId: string; waiting: Waiting | null }[] }>(
    'GET',
    '/v1/sms/messages?include=delivery&limit=100',
  )
  const listed = list.body.messages.find((message) => message.messageId === messageId)
  expect(listed?.waiting).toEqual(timeline.body.waiting)
  return timeline.body.waiting
}

const untilWaiting = (world: World, messageId: string, reason: string): Promise<Waiting> =>
  until(async () => {
    const { body } = await world.json<{ waiting: Waiting | null }>('GET', `/v1/sms/${messageId}/timeline`)
    return body.waiting?.reason === reason ? body.waiting : null
  })

const iso = (at: number): string => new Date(at).toISOString()

test('number_limit is the reason of the next message of a number whose window is full, and `order` of those behind it', async () => {
  const { world, clock } = await openWorld({ FROM_LIMIT_PER_MINUTE: '2' })
  await using _ = world
  const [one = '', two = '', three = '', four = ''] = await sendTo(world, 4)
  await world.untilStatus(one)
  await world.untilStatus(two)
  expect(await waiting(world, one)).toBeNull()
  expect(await waiting(world, three)).toEqual({ reason: 'number_limit', until: iso(clock.now() + 60_000) })
  expect(await waiting(world, four)).toEqual({ reason: 'order' })
  clock.advance(60_000)
  await world.untilStatus(four)
  expect(await waiting(world, three)).toBeNull()
})

test('extension_limit is the reason of the next message of each number whose extension’s window is full', async () => {
  const { world, clock } = await openWorld({ EXTENSION_LIMIT_PER_MINUTE: '2' })
  await using _ = world
  const sent = await sendTo(world, 2)
  for (const id of sent) await world.untilStatus(id)
  const [own = '', behind = ''] = await sendTo(world, 2)
  const [other = ''] = await sendTo(world, 1, FROM_2)
  const limit = { reason: 'extension_limit', until: iso(clock.now() + 60_000) }
  expect(await waiting(world, own)).toEqual(limit)
  expect(await waiting(world, other)).toEqual(limit)
  expect(await waiting(world, behind)).toEqual({ reason: 'order' })
})

test('order is the reason of a message behind a running call of its conversation', async () => {
  const { world } = await openWorld()
  await using _ = world
  const gone = Promise.withResolvers<void>()
  const { provider } = world.gateway
  const send = provider.sendSms
  provider.sendSms = async (token, message) => {
    if (message.text === 'slow') await gone.promise
    return send(token, message)
  }
  const first = await world.send({ body: 'slow' })
  const second = await world.send()
  const passes = await world.send({ to: to(7) })
  await world.untilStatus(passes)
  expect(await waiting(world, first)).toBeNull()
  expect(await waiting(world, second)).toEqual({ reason: 'order' })
  gone.resolve()
  await world.untilStatus(second)
})

test('order is the reason of a message that is too far back in its queue to be in memory', async () => {
  const { world } = await openWorld({ FROM_LIMIT_PER_MINUTE: '1' })
  await using _ = world
  await world.untilStatus(await world.send())
  const ids = await Promise.all(Array.from({ length: 300 }, (_n, index) => world.send({ to: to(index) })))
  const last = ids.find((id) => world.gateway.sending.scheduler.entries.get(id) === undefined) ?? ''
  expect(await untilWaiting(world, last, 'order')).toEqual({ reason: 'order' })
})

test('provider_paused is the reason after a 429, with its time, also of the refused message', async () => {
  const { world, clock } = await openWorld()
  await using _ = world
  const headers = { 'Retry-After': '40' }
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers } })
  const paused = { reason: 'provider_paused', until: iso(clock.now() + 40_000) }
  const met = await world.send()
  expect(await untilWaiting(world, met, 'provider_paused')).toEqual(paused)
  expect(await waiting(world, met)).toEqual(paused)
  expect(await world.status(met)).toMatchObject({ status: 'sending' })
  expect(await waiting(world, await world.send({ from: FROM_2 }))).toEqual(paused)
  clock.advance(40_000)
  await world.untilStatus(met)
})

test('provider_unreachable is the reason while the provider accepts no calls, until the next try', async () => {
  const { world, clock } = await openWorld()
  await using _ = world
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 503 } })
  const met = await world.send()
  const unreachable = { reason: 'provider_unreachable', until: iso(clock.now() + 2000) }
  expect(await untilWaiting(world, met, 'provider_unreachable')).toEqual(unreachable)
  expect(await waiting(world, await world.send({ from: FROM_2 }))).toEqual(unreachable)
  clock.advance(2000)
  await world.untilStatus(met)
})

test('reconciling is the reason of a message with an unknown outcome, and `order` of the next one of its conversation', async () => {
  const { world } = await openWorld()
  await using _ = world
  world.control.fault({ route: 'sms', fault: { kind: 'reset' } })
  const unknown = await world.send()
  expect(await untilWaiting(world, unknown, 'reconciling')).toEqual({ reason: 'reconciling' })
  expect(await waiting(world, unknown)).toEqual({ reason: 'reconciling' })
  expect(await waiting(world, await world.send())).toEqual({ reason: 'order' })
})

test('reconciling is the reason even after the extension of the message was disconnected', async () => {
  const { world, clock } = await openWorld()
  await using _ = world
  const [alice] = world.control.extensions()
  const bob = world.control.addExtension({ name: 'Bob', numbers: ['+15555550110'] })
  await world.connect({ extensionId: bob.extensionId })
  world.control.fault({ route: 'message-store', calls: null, fault: { kind: 'respond', status: 503 } })
  world.control.fault({ route: 'sms', fault: { kind: 'reset' } })
  const unknown = await world.send()
  await untilWaiting(world, unknown, 'reconciling')
  const disconnected = world.json('DELETE', `/v1/rc/extensions/${alice?.extensionId}`)
  await until(() => world.gateway.directory.isDisconnecting(world.tenantId, alice?.extensionId ?? ''))
  clock.advance(60_000)
  expect(await disconnected).toMatchObject({ status: 200 })
  expect(await waiting(world, unknown)).toEqual({ reason: 'reconciling' })
})

test('number_lookup is the reason while RingCentral has not answered the lookup of an unknown number', async () => {
  const { world } = await openWorld()
  await using _ = world
  world.control.fault({ route: 'phone-number', fault: { kind: 'hang' } })
  const id = await world.send({ from: '+15555550177' })
  expect(await untilWaiting(world, id, 'number_lookup')).toEqual({ reason: 'number_lookup' })
  expect(await waiting(world, id)).toEqual({ reason: 'number_lookup' })
})

test('reauthorization is the reason while the extension’s tokens cannot be refreshed', async () => {
  const { world, clock } = await openWorld()
  await using _ = world
  world.control.fault({ route: 'token', calls: null, fault: { kind: 'respond', status: 503 } })
  clock.advance(3_600_000)
  const id = await world.send()
  expect(await untilWaiting(world, id, 'reauthorization')).toEqual({ reason: 'reauthorization' })
  expect(await waiting(world, id)).toEqual({ reason: 'reauthorization' })
})

test('restore is the reason of a quarantined message until its lookup', async () => {
  const clock = manualClock()
  await using first = await createWorld({ clock, work: false })
  const id = await first.send()
  await quarantine(first)
  await first.running.stop()
  await using second = await createWorld({ clock, folder: first.folder, connect: false })
  await untilSnoozed(second, 'lookup')
  const timeline = await second.json<{ waiting: Waiting }>('GET', `/v1/sms/${id}/timeline`, { key: first.key })
  expect(timeline.body.waiting).toEqual({ reason: 'restore', until: iso(clock.now() + 30_000) })
})

// The tenant's keys are refused, so the operator reads the reason.
test('suspended is the reason of all messages of a suspended tenant', async () => {
  const { world } = await openWorld()
  await using _ = world
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429 } })
  const id = await world.send()
  await untilWaiting(world, id, 'provider_paused')
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  expect((await readTimeline(world.gateway, { ...world.app }, id)).waiting).toEqual({ reason: 'suspended' })
})

test('scheduled is the reason of a message before its sendAt, with that time', async () => {
  const { world, clock } = await openWorld()
  await using _ = world
  const acceptedAt = iso(clock.now())
  const sendAt = iso(clock.now() + 5000)
  const id = await world.send({ sendAt })
  expect(await waiting(world, id)).toEqual({ reason: 'scheduled', until: sendAt })
  const list = await world.json<{ messages: unknown[] }>('GET', '/v1/sms/messages?include=delivery')
  expect(list.body.messages[0]).toMatchObject({ messageId: id, deliveryStatus: null, sendAt })
  clock.advance(5000)
  await world.untilStatus(id, ['sent'])
  expect(await waiting(world, id)).toBeNull()
  const { body } = await world.json<{ entries: unknown[] }>('GET', `/v1/sms/${id}/timeline`)
  expect(body.entries).toMatchObject([
    { at: acceptedAt, type: 'queued' },
    { at: acceptedAt, type: 'scheduled', sendAt },
    { at: sendAt, type: 'attempt', number: 1, outcome: 'accepted', durationMs: 0 },
    { at: sendAt, type: 'sent' },
  ])
})
