import { expect, test } from 'bun:test'
import { MAX_WEBHOOKS_PER_HOST, MAX_WEBHOOKS_PER_TARGET, MAX_WEBHOOKS_PER_TENANT } from '../../../src/core/limits.ts'
import { DeliveryPlaces } from '../../../src/features/webhook-deliveries/delivery-places.ts'
import type { Place } from '../../../src/jobs/places.ts'
import { manualClock } from '../../support/manual-clock.ts'

const host = (number: number): string => `https://host${number}.example/hook`

/** Places, and what they said to the loop. */
function workshop() {
  const said: string[] = []
  const places = new DeliveryPlaces(manualClock(), {
    freed: () => said.push('freed'),
    laneFreed: (_kind, lane) => said.push(`lane ${lane} freed`),
  })
  const enter = (number: number, tenantId: string, lane = `${tenantId} ${number}`): Place | null =>
    places.enter(host(number), { lane, tenantId })
  return { places, said, enter }
}

test('one tenant has half of the places at most, and is called when one of them is free again', () => {
  const { said, enter } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_TENANT }, (_, number) => enter(number, 'tenant_a'))
  expect(taken).not.toContain(null)
  expect(enter(1000, 'tenant_a')).toBeNull()
  expect(enter(1000, 'tenant_b')).not.toBeNull()
  taken[0]?.leave()
  expect(said).toEqual(['lane tenant_a 1000 freed'])
  expect(enter(1001, 'tenant_a')).not.toBeNull()
  taken[1]?.leave()
  taken[2]?.leave()
  expect(said).toEqual(['lane tenant_a 1000 freed'])
})

test('one host has its places, whoever asks', () => {
  const { enter } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_HOST }, (_, number) => enter(1, `tenant_${number}`))
  expect(taken).not.toContain(null)
  expect(enter(1, 'tenant_b')).toBeNull()
  expect(enter(2, 'tenant_b')).not.toBeNull()
})

test('a place of a host that comes free is for the one that has waited longest, and each waits once', () => {
  const { said, enter } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_HOST }, (_, number) => enter(1, `tenant_${number}`))
  for (const lane of ['first', 'second', 'first', 'third']) expect(enter(1, 'tenant_b', lane)).toBeNull()
  taken[0]?.leave()
  expect(said).toEqual(['lane first freed'])
  expect(enter(1, 'tenant_b', 'first')).not.toBeNull()
  expect(enter(1, 'tenant_b', 'first')).toBeNull()
  taken[1]?.leave()
  taken[2]?.leave()
  // Two places are free by now: also for one that came back to the line.
  expect(said).toEqual(['lane first freed', 'lane second freed', 'lane third freed', 'lane first freed'])
})

test('one that has got a place otherwise leaves the line, so that its turn is another’s', () => {
  const { said, enter } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_HOST }, (_, number) => enter(1, `tenant_${number}`))
  expect(enter(1, 'tenant_b', 'first')).toBeNull()
  taken[0]?.leave()
  expect(enter(1, 'tenant_b', 'hasty')).not.toBeNull()
  for (const lane of ['hasty', 'second']) expect(enter(1, 'tenant_b', lane)).toBeNull()
  taken[1]?.leave()
  expect(enter(1, 'tenant_b', 'second')).not.toBeNull()
  expect(enter(1, 'tenant_b', 'third')).toBeNull()
  taken[2]?.leave()
  expect(said).toEqual(['lane first freed', 'lane hasty freed', 'lane third freed'])
})

test('a dot at the end of a name makes no other host', () => {
  const { places } = workshop()
  const enter = (url: string, number: number): Place | null =>
    places.enter(url, { lane: `lane ${number}`, tenantId: 'tenant_a' })
  for (let number = 0; number < MAX_WEBHOOKS_PER_HOST; number++)
    expect(enter(number % 2 === 0 ? 'https://h.example/' : 'https://h.example./', number)).not.toBeNull()
  expect(enter('https://h.example./', 8)).toBeNull()
  expect(enter('https://h.example:8443/', 9)).not.toBeNull()
})

test('a POST that has ended makes room for the next one of its destination at once, and gives its places back once', () => {
  const { places, said, enter } = workshop()
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_TARGET }, () => enter(1, 'tenant_a', 'lane'))
  expect(places.room('lane').jobs).toBe(0)
  expect(places.room('another lane').jobs).toBe(MAX_WEBHOOKS_PER_TARGET)
  const before = places.maxInFlight
  taken[0]?.answered()
  expect(said).toEqual(['lane lane freed', 'freed'])
  expect(places.room('lane').jobs).toBe(1)
  // The outcome is still to be stored.
  expect(places.maxInFlight).toBe(before + 1)
  taken[0]?.leave()
  expect(places.room('lane').jobs).toBe(1)
  expect(places.maxInFlight).toBe(before)
})
