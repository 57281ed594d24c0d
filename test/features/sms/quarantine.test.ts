import { expect, test } from 'bun:test'
import { recoverSending } from '../../../src/sending/recover.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { untilSnoozed } from '../../support/snoozed.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

const HOUR_MS = 3_600_000
const SETTLE_MS = 30_000
const OTHER_FROM = '+15555550177'
const UNCONFIRMED = 'Delivery could not be confirmed with the provider'
const contact = (n: number): string => `+1555777${1000 + n}`

/** Quarantines messages, as after a restore: they may have been sent after the backup was made. */
async function restore({ gateway }: World, ids: readonly string[]): Promise<void> {
  await gateway.database.gate.execute(`UPDATE jobs SET is_quarantined = 1 WHERE kind = 'send'`)
  for (const id of ids) {
    const entry = gateway.sending.scheduler.entries.get(id)
    if (entry !== undefined) entry.isQuarantined = true
  }
  await recoverSending(gateway.sending)
}

const extensionId = (world: World): string =>
  world.control.extensions().find(({ name }) => name === 'Alice')?.extensionId ?? ''

/** Records at the provider that the message was sent after the backup was made. */
async function wasSent(world: World, to: string, text: string): Promise<void> {
  const { session, provider } = world.gateway
  const key = { tenantId: world.tenantId, extensionId: extensionId(world) }
  await session.call(key, 'medium', (token) => provider.sendSms(token, { from: FROM, to, text }))
}

const listings = (world: World): number =>
  world.control.requests({ route: 'message-store' }).filter(({ path }) => path.includes('direction=Outbound')).length

const texts = (world: World): string[] =>
  world.control.messages({ direction: 'Outbound' }).map(({ text }) => text ?? '')

test.each([404, 503])('a message fails if the store answers %i until the message is too old', async (status) => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false, env: { MAX_QUEUE_AGE: '2h' } })
  const id = await world.send()
  await restore(world, [id])
  world.control.fault({ route: 'message-store', calls: null, fault: { kind: 'respond', status } })
  world.running.work()
  await until(() => listings(world) > 0)
  await untilSnoozed(world, 'lookup')
  clock.advance(HOUR_MS)
  await until(() => listings(world) > 1)
  expect((await world.status(id))['status']).toBe('queued')
  await until(async () => {
    clock.advance(HOUR_MS)
    return (await world.status(id))['status'] === 'failed'
  })
  expect((await world.status(id))['error']).toBe(UNCONFIRMED)
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
  await restore(world, [...held, ...ids])
  world.control.fault({
    route: 'message-store',
    extensionId: extensionId(world),
    calls: null,
    fault: { kind: 'hang' },
  })
  world.running.work()
  await until(() => listings(world) === 1)
  await untilSnoozed(world, 'lookup')
  clock.advance(SETTLE_MS)
  for (const id of ids) await world.untilStatus(id, ['sent'], 20_000, { key })
  for (const id of held) expect((await world.status(id))['status']).toBe('queued')
}, 20_000)

test('one listing after the settle time decides all messages', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const ids = await Promise.all(Array.from({ length: 6 }, (_, n) => world.send({ to: contact(n), body: `text ${n}` })))
  await restore(world, ids)
  for (const n of [1, 4]) await wasSent(world, contact(n), `text ${n}`)
  world.running.work()
  await until(() => listings(world) === 1)
  await untilSnoozed(world, 'lookup')
  clock.advance(SETTLE_MS - 1)
  for (const id of ids) expect((await world.status(id))['status']).toBe('queued')
  clock.advance(1)
  for (const id of ids) await world.untilStatus(id, ['sent'])
  expect(listings(world)).toBe(2)
  expect(texts(world).toSorted()).toEqual(ids.map((_, n) => `text ${n}`))
})

test('a record with a truncated text confirms its message', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const body = 'A text that the store does not keep as a whole. '.repeat(4)
  const id = await world.send({ body })
  await restore(world, [id])
  await wasSent(world, TO, body.slice(0, 120))
  world.running.work()
  await until(() => listings(world) === 1)
  await untilSnoozed(world, 'lookup')
  clock.advance(SETTLE_MS)
  expect(await world.untilStatus(id)).toMatchObject({ status: 'sent', error: null })
  expect(texts(world)).toEqual([body.slice(0, 120)])
})

test('a quarantined message delays only its own conversation', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const first = await world.send({ to: TO, body: 'same' })
  await restore(world, [first])
  world.running.work()
  await until(() => listings(world) === 1)
  await untilSnoozed(world, 'lookup')
  const behind = await world.send({ to: TO, body: 'same' })
  await world.untilStatus(await world.send({ to: contact(1), body: 'another' }), ['sent'])
  expect((await world.status(behind))['status']).toBe('queued')
  expect(texts(world)).toEqual(['another'])
  clock.advance(SETTLE_MS)
  for (const id of [first, behind]) await world.untilStatus(id, ['sent'])
  expect(texts(world)).toEqual(['another', 'same', 'same'])
})
