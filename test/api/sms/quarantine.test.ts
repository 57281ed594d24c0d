import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { quarantine } from '../../support/quarantine.ts'
import { untilSnoozed } from '../../support/snoozed.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

const SETTLE_MS = 30_000
const OTHER_FROM = '+15555550177'
const UNCONFIRMED = 'Delivery could not be confirmed with the provider'
const contact = (n: number): string => `+1555777${1000 + n}`

const extensionId = (world: World): string =>
  world.control.extensions().find(({ name }) => name === 'Alice')?.extensionId ?? ''

/** Records at the provider that the message was sent after the backup was made. */
async function wasSent(world: World, to: string, text: string): Promise<void> {
  const { extensionCalls, provider } = world.gateway
  const key = { tenantId: world.tenantId, extensionId: extensionId(world) }
  await extensionCalls.make(key, 'medium', (token) => provider.sendSms(token, { from: FROM, to, text }))
}

const listings = (world: World): number =>
  world.control.requests({ route: 'message-store' }).filter(({ path }) => path.includes('direction=Outbound')).length

const texts = (world: World): string[] =>
  world.control.messages({ direction: 'Outbound' }).map(({ text }) => text ?? '')

test.each([404, 503])('a message fails if the store answers %i for ten minutes', async (status) => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const id = await world.send()
  await quarantine(world)
  world.control.fault({ route: 'message-store', calls: null, fault: { kind: 'respond', status } })
  world.running.work()
  await untilSnoozed(world, 'lookup')
  clock.advance(9 * 60_000)
  await until(() => listings(world) > 0)
  await untilSnoozed(world, 'lookup')
  expect((await world.status(id))['status']).toBe('queued')
  clock.advance(60_000)
  expect((await world.untilStatus(id))['error']).toBe(UNCONFIRMED)
  expect(texts(world)).toEqual([])
})

test('a store that hangs delays only its own extension', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false, env: { PROVIDER_TIMEOUT: '60s' } })
  const { tenantId, apiKey: key } = await world.otherTenant()
  const bob = world.control.addExtension({ name: 'Bob', numbers: [OTHER_FROM] })
  await world.connect({ tenantId, extensionId: bob.extensionId })
  const held = await Promise.all(Array.from({ length: 20 }, (_, n) => world.send({ to: contact(n) })))
  const ids = await Promise.all(
    Array.from({ length: 8 }, (_, n) => world.send({ from: OTHER_FROM, to: contact(n) }, { key })),
  )
  await quarantine(world)
  world.control.fault({
    route: 'message-store',
    extensionId: extensionId(world),
    calls: null,
    fault: { kind: 'hang' },
  })
  world.running.work()
  await untilSnoozed(world, 'lookup')
  clock.advance(SETTLE_MS)
  for (const id of ids) await world.untilStatus(id, ['sent'], 20_000, { key })
  for (const id of held) expect((await world.status(id))['status']).toBe('queued')
}, 20_000)

test('one listing after the settle time decides all messages', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const ids = await Promise.all(Array.from({ length: 6 }, (_, n) => world.send({ to: contact(n), body: `text ${n}` })))
  await quarantine(world)
  for (const n of [1, 4]) await wasSent(world, contact(n), `text ${n}`)
  world.running.work()
  await untilSnoozed(world, 'lookup')
  clock.advance(SETTLE_MS - 1)
  for (const id of ids) expect((await world.status(id))['status']).toBe('queued')
  expect(listings(world)).toBe(0)
  clock.advance(1)
  for (const id of ids) await world.untilStatus(id, ['sent'])
  expect(listings(world)).toBe(1)
  expect(texts(world).toSorted()).toEqual(ids.map((_, n) => `text ${n}`))
})

test('a record with a truncated text confirms its message', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const body = 'A text that the store does not keep as a whole. '.repeat(4)
  const id = await world.send({ body })
  await quarantine(world)
  await wasSent(world, TO, body.slice(0, 120))
  world.running.work()
  await untilSnoozed(world, 'lookup')
  clock.advance(SETTLE_MS)
  expect(await world.untilStatus(id)).toMatchObject({ status: 'sent', error: null })
  expect(texts(world)).toEqual([body.slice(0, 120)])
})

test('a quarantined message delays only its own conversation', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const first = await world.send({ to: TO, body: 'same' })
  await quarantine(world)
  world.running.work()
  await untilSnoozed(world, 'lookup')
  const behind = await world.send({ to: TO, body: 'same' })
  await world.untilStatus(await world.send({ to: contact(1), body: 'another' }), ['sent'])
  expect((await world.status(behind))['status']).toBe('queued')
  expect(texts(world)).toEqual(['another'])
  clock.advance(SETTLE_MS)
  for (const id of [first, behind]) await world.untilStatus(id, ['sent'])
  expect(texts(world)).toEqual(['another', 'same', 'same'])
})

test('one listing decides all messages of a conversation, which are sent once and in order', async () => {
  const clock = manualClock()
  const env = { FROM_LIMIT_PER_MINUTE: '1000', EXTENSION_LIMIT_PER_MINUTE: '1000', DELIVERY_TRACKING: 'off' }
  await using world = await createWorld({ clock, work: false, env })
  world.control.setLimits({ enabled: false })
  const sent = Array.from({ length: 252 }, (_, n) => `text ${n}`)
  const ids: string[] = []
  for (const body of sent) ids.push(await world.send({ body }))
  await quarantine(world)
  const restoredAt = clock.now()
  for (const n of [0, 1, 99, 251]) await wasSent(world, TO, `text ${n}`)
  world.running.work()
  await untilSnoozed(world, 'lookup')
  clock.advance(SETTLE_MS)
  await until(() => {
    clock.advance(100)
    return texts(world).length === sent.length
  })
  const last = await world.untilStatus(ids.at(-1) ?? '')
  expect(clock.now() - restoredAt).toBeLessThan(SETTLE_MS + 60_000)
  expect(last).toMatchObject({ status: 'sent' })
  expect(listings(world)).toBe(1)
  expect(texts(world).toSorted()).toEqual(sent.toSorted())
  const others = sent.filter((_, n) => ![0, 1, 99, 251].includes(n))
  expect(texts(world).slice(4)).toEqual(others)
})

test('a message that is cancelled in quarantine stays cancelled, even if the provider has it', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const had = await world.send({ body: 'had' })
  const lost = await world.send({ to: contact(1), body: 'lost' })
  await quarantine(world)
  await wasSent(world, TO, 'had')
  world.running.work()
  await untilSnoozed(world, 'lookup')
  for (const id of [had, lost]) expect((await world.call('DELETE', `/v1/sms/${id}`)).status).toBe(200)
  clock.advance(SETTLE_MS)
  const { gate } = world.gateway.database
  await until(async () => (await gate.execute(`SELECT 1 FROM jobs WHERE kind = 'send'`)).rows.length === 0)
  for (const id of [had, lost])
    expect(await world.status(id)).toMatchObject({ status: 'failed', error: 'Cancelled before sending' })
  expect(texts(world)).toEqual(['had'])
})

test('the timeline of a quarantined message has no attempt before its call', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const id = await world.send()
  await quarantine(world)
  world.running.work()
  await untilSnoozed(world, 'lookup')
  const timeline = async () => {
    const { body } = await world.json<{ entries: Record<string, unknown>[]; waiting: unknown }>(
      'GET',
      `/v1/sms/${id}/timeline`,
    )
    return { types: body.entries.map(({ type, number }) => [type, number]), waiting: body.waiting }
  }
  const until30 = new Date(clock.now() + SETTLE_MS).toISOString()
  expect(await timeline()).toEqual({ types: [['queued', undefined]], waiting: { reason: 'restore', until: until30 } })
  const overview = await world.json<{ waiting: unknown[] }>('GET', '/v1/overview')
  expect(overview.body.waiting).toMatchObject([{ reason: 'restore', count: 1 }])
  clock.advance(SETTLE_MS)
  await world.untilStatus(id, ['sent'])
  expect((await timeline()).types).toEqual([
    ['queued', undefined],
    ['attempt', 1],
    ['sent', undefined],
  ])
})
