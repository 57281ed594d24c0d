import { expect, test } from 'bun:test'
import { MAX_WEBHOOKS_PER_HOST, MAX_WEBHOOKS_PER_DESTINATION, MAX_WEBHOOKS_PER_TENANT } from '../../src/core/limits.ts'
import { DeliverySlots, FIRST_ATTEMPTS } from '../../src/deliveries/delivery-slots.ts'
import type { Slot } from '../../src/jobs/slots.ts'
import { manualClock } from '../support/manual-clock.ts'

const host = (number: number): string => `https://host${number}.example/hook`

/** Slots, and what they told the loop. */
function workshop() {
  const said: string[] = []
  const slots = new DeliverySlots(
    manualClock(),
    { freed: () => said.push('freed'), laneFreed: (_kind, lane) => said.push(`lane ${lane} freed`) },
    FIRST_ATTEMPTS,
  )
  const acquire = (number: number, tenantId: string, lane = `${tenantId} ${number}`): Slot | null =>
    slots.acquire(host(number), { lane, tenantId })
  return { slots, said, acquire }
}

test('one tenant has half of the slots at most, and its lane is freed when one of them is available', () => {
  const { said, acquire } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_TENANT }, (_, number) => acquire(number, 'tenant_a'))
  expect(taken).not.toContain(null)
  expect(acquire(1000, 'tenant_a')).toBeNull()
  expect(acquire(1000, 'tenant_b')).not.toBeNull()
  taken[0]?.release()
  expect(said).toEqual(['lane tenant_a 1000 freed'])
  expect(acquire(1001, 'tenant_a')).not.toBeNull()
  taken[1]?.release()
  taken[2]?.release()
  expect(said).toEqual(['lane tenant_a 1000 freed'])
})

test('one host has its slots, whichever tenant asks', () => {
  const { acquire } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_HOST }, (_, number) => acquire(1, `tenant_${number}`))
  expect(taken).not.toContain(null)
  expect(acquire(1, 'tenant_b')).toBeNull()
  expect(acquire(2, 'tenant_b')).not.toBeNull()
})

test('a slot of a host goes to the lane that has waited longest, and each lane waits once', () => {
  const { said, acquire } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_HOST }, (_, number) => acquire(1, `tenant_${number}`))
  for (const lane of ['first', 'second', 'first', 'third']) expect(acquire(1, 'tenant_b', lane)).toBeNull()
  taken[0]?.release()
  expect(said).toEqual(['lane first freed'])
  expect(acquire(1, 'tenant_b', 'first')).not.toBeNull()
  expect(acquire(1, 'tenant_b', 'first')).toBeNull()
  taken[1]?.release()
  taken[2]?.release()
  // Two slots are free by now: also for a lane that queued again.
  expect(said).toEqual(['lane first freed', 'lane second freed', 'lane third freed', 'lane first freed'])
})

test('a lane that acquires a slot leaves the queue, so that its turn goes to another', () => {
  const { said, acquire } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_HOST }, (_, number) => acquire(1, `tenant_${number}`))
  expect(acquire(1, 'tenant_b', 'first')).toBeNull()
  taken[0]?.release()
  expect(acquire(1, 'tenant_b', 'hasty')).not.toBeNull()
  for (const lane of ['hasty', 'second']) expect(acquire(1, 'tenant_b', lane)).toBeNull()
  taken[1]?.release()
  expect(acquire(1, 'tenant_b', 'second')).not.toBeNull()
  expect(acquire(1, 'tenant_b', 'third')).toBeNull()
  taken[2]?.release()
  expect(said).toEqual(['lane first freed', 'lane hasty freed', 'lane third freed'])
})

test('a dot at the end of a name makes no other host', () => {
  const { slots } = workshop()
  const acquire = (url: string, number: number): Slot | null =>
    slots.acquire(url, { lane: `lane ${number}`, tenantId: 'tenant_a' })
  for (let number = 0; number < MAX_WEBHOOKS_PER_HOST; number++)
    expect(acquire(number % 2 === 0 ? 'https://h.example/' : 'https://h.example./', number)).not.toBeNull()
  expect(acquire('https://h.example./', 8)).toBeNull()
  expect(acquire('https://h.example:8443/', 9)).not.toBeNull()
})

test('a POST that has ended makes room for the next one of its destination at once, and gives its slots back once', () => {
  const { slots, said, acquire } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_DESTINATION }, () => acquire(1, 'tenant_a', 'lane'))
  expect(slots.room('lane')).toBe(0)
  expect(slots.room('another lane')).toBe(MAX_WEBHOOKS_PER_DESTINATION)
  const before = slots.maxInFlight
  taken[0]?.answered()
  expect(said).toEqual(['lane lane freed', 'freed'])
  expect(slots.room('lane')).toBe(1)
  // The outcome is still to be stored.
  expect(slots.maxInFlight).toBe(before + 1)
  taken[0]?.release()
  expect(slots.room('lane')).toBe(1)
  expect(slots.maxInFlight).toBe(before)
})
