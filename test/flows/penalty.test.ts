import { expect, test } from 'bun:test'
import { TO } from '../support/world.ts'
import { FaultCase } from './fault-table/case.ts'
import { pass } from './fault-table/passing-time.ts'

const BOBS = '+15555550102'
const ALICES = '+15555550100'
const ALICES_OTHER = '+15555550101'
const RETRY_AFTER_MS = 20_000

test('after a 429 the extension sends nothing for Retry-After, its messages stay queued, and other extensions keep sending', async () => {
  await using one = await FaultCase.open()
  const { world, clock } = one
  const { control } = world
  const bob = control.addExtension({ name: 'Bob', numbers: [BOBS] })
  await world.connect({ extensionId: bob.extensionId })
  await pass(one, 60_000, () => (control.subscriptions().length === 2 ? true : null))
  const alice = control.extensions().find(({ name }) => name === 'Alice')?.extensionId ?? ''
  control.fault({
    route: 'sms',
    extensionId: alice,
    fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '20' } },
  })

  const met = await world.send({ from: ALICES, to: TO, body: 'Met it' })
  const refusedAt = await pass(
    one,
    5000,
    () => control.requests({ route: 'sms' }).find(({ status }) => status === 429)?.at ?? null,
  )
  // The pause begins when the refusal arrives.
  await pass(one, 5000, () => (world.gateway.quota.pauseMs(alice, 'medium') > 0 ? true : null))
  const waiting = [
    await world.send({ from: ALICES, to: TO, body: 'Waits' }),
    await world.send({ from: ALICES_OTHER, to: TO, body: 'Waits on another number of the extension' }),
  ]
  const other = await world.send({ from: BOBS, to: TO, body: 'Unhurt' })
  expect((await one.ended(other, 2000)).status).toBe('sent')

  await pass(one, RETRY_AFTER_MS, () => (clock.now() >= refusedAt + RETRY_AFTER_MS - 1000 ? true : null))
  expect(await world.status(met)).toMatchObject({ status: 'sending' })
  for (const messageId of waiting) expect(await world.status(messageId)).toMatchObject({ status: 'queued' })

  for (const messageId of [met, ...waiting]) expect((await one.ended(messageId, 60_000)).status).toBe('sent')
  // The provider limits each group of calls separately, so reading calls, such as the back-fill, may continue.
  const later = control.requests({ route: 'sms', extensionId: alice }).filter(({ at }) => at > refusedAt)
  expect(Math.min(...later.map(({ at }) => at))).toBeGreaterThanOrEqual(refusedAt + RETRY_AFTER_MS)
  const texts = control.messages({ direction: 'Outbound' }).map(({ text }) => text)
  expect(texts.toSorted()).toEqual(['Met it', 'Unhurt', 'Waits', 'Waits on another number of the extension'])
  expect(await one.attempts(met)).toHaveLength(2)
})
