import { expect, test } from 'bun:test'
import { MAX_WEBHOOKS_PER_HOST, MAX_WEBHOOKS_PER_TENANT } from '../../../src/core/limits.ts'
import { DeliveryLanes } from '../../../src/features/webhook-deliveries/lanes.ts'
import { manualClock } from '../../support/manual-clock.ts'

const host = (number: number): string => `https://host${number}.example/hook`

test('one tenant has half of the places at most, and is called when one of them is free again', () => {
  let freed = 0
  const lanes = new DeliveryLanes(manualClock(), () => freed++)
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_TENANT }, (_, number) => lanes.enter(host(number), 'tenant_a'))
  expect(taken).not.toContain(null)
  expect(lanes.enter(host(1000), 'tenant_a')).toBeNull()
  expect(lanes.enter(host(1000), 'tenant_b')).not.toBeNull()
  taken[0]?.()
  expect(freed).toBe(1)
  expect(lanes.enter(host(1001), 'tenant_a')).not.toBeNull()
  taken[1]?.()
  taken[2]?.()
  expect(freed).toBe(2)
})

test('one host has its places, whoever asks', () => {
  const lanes = new DeliveryLanes(manualClock(), () => undefined)
  const taken = Array.from({ length: MAX_WEBHOOKS_PER_HOST }, (_, number) => lanes.enter(host(1), `tenant_${number}`))
  expect(taken).not.toContain(null)
  expect(lanes.enter(host(1), 'tenant_b')).toBeNull()
  expect(lanes.enter(host(2), 'tenant_b')).not.toBeNull()
})
