import { expect, test } from 'bun:test'
import { type ProviderFault, startTestGateway } from '../../src/testing/index.ts'
import { CONTACT, entriesOnce, send } from './gateways.ts'

/** The timeline of a message whose first `times` sends meet a fault, and how long it took to be sent. */
async function sentAfter(
  fault: ProviderFault,
  times = 1,
): Promise<{ entries: string[]; received: number; tookMs: number }> {
  await using gateway = await startTestGateway()
  gateway.provider.next(fault, times)
  const startedAt = performance.now()
  const id = await send(gateway, 'Hello')
  const entries = await entriesOnce(gateway, id, 'sent')
  const tookMs = performance.now() - startedAt
  await send(gateway, 'the next one meets no fault')
  await gateway.phone(CONTACT).waitFor('no fault')
  return {
    entries: entries.filter((entry) => entry.startsWith('attempt')),
    received: gateway.phone(CONTACT).inbox.length - 1,
    tookMs,
  }
}

test.concurrent('429: the message goes out a second later', async () => {
  const { entries, received, tookMs } = await sentAfter('429')
  expect({ entries, received }).toEqual({ entries: ['attempt not_accepted', 'attempt accepted'], received: 1 })
  expect(tookMs).toBeGreaterThan(900)
})

test.concurrent('5xx-before: the message is looked up, and goes out after the settle time of a second', async () => {
  const { entries, received, tookMs } = await sentAfter('5xx-before', 2)
  expect({ entries, received }).toEqual({
    entries: ['attempt unknown', 'attempt unknown', 'attempt accepted'],
    received: 1,
  })
  expect(tookMs).toBeLessThan(15_000)
})

test.concurrent('5xx-after: the message is found, and is not sent twice', async () => {
  expect(await sentAfter('5xx-after')).toMatchObject({ entries: ['attempt unknown'], received: 1 })
})

test.concurrent('hang: the call ends after 5 s, and the message is sent again', async () => {
  const { entries, received, tookMs } = await sentAfter('hang')
  expect({ entries, received }).toEqual({ entries: ['attempt unknown', 'attempt accepted'], received: 1 })
  expect(tookMs).toBeGreaterThan(4900)
})

test('refuses unknown faults and counts', async () => {
  await using gateway = await startTestGateway()
  expect(() => gateway.provider.next('500' as ProviderFault)).toThrow('use one of 429, 5xx-before, 5xx-after, hang')
  expect(() => gateway.provider.next('429', 0)).toThrow('times must be a positive number')
})
