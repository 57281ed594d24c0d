import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { untilPutOff } from '../../support/put-off.ts'
import { FROM, type World, createWorld, until } from '../../support/world.ts'

/** As after a restore from a backup: whatever waits may have been sent in the time that the backup does not know. */
const behindTheFence = (world: World): Promise<unknown> =>
  world.gateway.database.gate.execute(`UPDATE jobs SET kind = 'fence' WHERE kind = 'send'`)

const HOUR_MS = 3_600_000

test('a message ends when its account has no message store to be asked', async () => {
  await using world = await createWorld({ work: false, env: { RECONCILE_SETTLE: '1s' } })
  const id = await world.send()
  await behindTheFence(world)
  world.control.fault({ route: 'message-store', calls: null, fault: { kind: 'respond', status: 404 } })
  world.running.work()
  const state = await world.untilStatus(id, ['sent', 'failed'], 9000)
  expect(state['error']).toStartWith('Delivery could not be confirmed')
})

test('a message ends when the store could not be asked until it was too old', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false, env: { MAX_QUEUE_AGE: '2h' } })
  const id = await world.send()
  await behindTheFence(world)
  world.control.fault({ route: 'message-store', calls: null, fault: { kind: 'respond', status: 503 } })
  world.running.work()
  const asked = (): number => world.control.requests().filter(({ status }) => status === 503).length
  await until(() => asked() > 0)
  expect((await world.status(id))['status']).toBe('queued')
  await untilPutOff(world, 'fence')
  clock.advance(HOUR_MS)
  await until(() => asked() > 1)
  expect((await world.status(id))['status']).toBe('queued')
  await untilPutOff(world, 'fence')
  clock.advance(2 * HOUR_MS)
  const state = await world.untilStatus(id, ['sent', 'failed'], 5000)
  expect(state['error']).toStartWith('Delivery could not be confirmed')
})

test('a store that hangs holds up its own extension alone', async () => {
  await using world = await createWorld({ work: false, env: { PROVIDER_TIMEOUT: '1s', RECONCILE_SETTLE: '1s' } })
  const { tenantId, apiKey: key } = await world.otherTenant()
  const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: ['+15555550177'] })
  await world.connect({ tenantId, extensionId })
  for (let index = 0; index < 20; index++) await world.send({ body: `alice ${index}` })
  const ids: string[] = []
  for (let index = 0; index < 8; index++)
    ids.push(await world.send({ from: '+15555550177', body: `bob ${index}` }, { key }))
  await behindTheFence(world)
  const alice = world.control.extensions().find(({ name }) => name === 'Alice')
  world.control.fault({
    route: 'message-store',
    extensionId: alice?.extensionId ?? '',
    calls: null,
    fault: { kind: 'hang' },
  })
  world.running.work()
  for (const id of ids) await world.untilStatus(id, ['sent'], 4000, { key })
  const hung = world.control.requests().filter(({ route, status }) => route === 'message-store' && status === null)
  expect(hung.length).toBeLessThan(ids.length)
}, 20_000)

test('no equal text is tried while a message waits behind the fence: it could be taken for the other', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const waiting = await world.send({ body: 'same' })
  await behindTheFence(world)
  world.running.work()
  await until(() => world.control.requests().some(({ route }) => route === 'message-store'))
  // What follows could begin with its message.
  await world.untilStatus(await world.send({ body: 'another' }))
  await world.gateway.directory.tenant(world.tenantId)
  await until(() => world.gateway.numbers.readySender(world.tenantId, FROM) !== null)
  const equal = await world.send({ body: 'same' })
  const texts = (): string[] => world.control.messages({ direction: 'Outbound' }).map(({ text }) => text ?? '')
  for (let second = 0; second < 5; second++) {
    clock.advance(1000)
    await world.untilStatus(await world.send({ body: `another ${second}` }))
  }
  expect((await world.status(equal))['status']).toBe('queued')
  expect(texts()).not.toContain('same')
  await until(async () => {
    clock.advance(1000)
    const both = [await world.status(equal), await world.status(waiting)]
    return both.every(({ status }) => status === 'sent')
  })
  expect(texts().filter((text) => text === 'same')).toHaveLength(2)
}, 20_000)

test('nor one of another tenant that has the number, too', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const { tenantId, apiKey: key } = await world.otherTenant()
  const alice = world.control.extensions().find(({ name }) => name === 'Alice')
  await world.connect({ tenantId, extensionId: alice?.extensionId ?? '' })
  const waiting = await world.send({ body: 'same' })
  await behindTheFence(world)
  world.running.work()
  await until(() => world.control.requests().some(({ route }) => route === 'message-store'))
  await world.untilStatus(await world.send({ body: 'another' }, { key }), ['sent'], 5000, { key })
  const equal = await world.send({ body: 'same' }, { key })
  for (let second = 0; second < 5; second++) {
    clock.advance(1000)
    await world.untilStatus(await world.send({ body: `another ${second}` }, { key }), ['sent'], 5000, { key })
  }
  expect((await world.status(equal, { key }))['status']).toBe('queued')
  // Behind the fence they go one after the other, either of them first.
  await until(async () => {
    clock.advance(1000)
    const both = [await world.status(equal, { key }), await world.status(waiting)]
    return both.every(({ status }) => status === 'sent')
  })
  expect(world.control.messages({ direction: 'Outbound' }).filter(({ text }) => text === 'same')).toHaveLength(2)
}, 20_000)
