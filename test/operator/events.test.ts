import { expect, test } from 'bun:test'
import { eventStream } from '../../src/operator/events.ts'
import { manualClock } from '../support/manual-clock.ts'
import { inboundEvent } from '../support/provider-events.ts'
import { createWorld } from '../support/world.ts'

const quiet = { connect: false, work: false }

test('the stream begins with ready, then has the events of one tenant, and an empty line every 30 s', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock })
  const reader = eventStream(world.gateway, world.tenantId).getReader()
  const line = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value)
  expect(await line()).toBe('{"type":"ready"}\n')
  world.gateway.hub.publish(inboundEvent('foreign', 'tenant_0000000000000000'))
  world.gateway.hub.publish(inboundEvent('own', world.tenantId))
  expect(JSON.parse(await line())).toEqual(inboundEvent('own', world.tenantId) as unknown as Record<string, unknown>)
  for (let beat = 0; beat < 3; beat++) {
    clock.advance(30_000)
    expect(await line()).toBe('\n')
  }
  await reader.cancel()
  clock.advance(120_000)
  world.gateway.hub.publish(inboundEvent('nobody reads', world.tenantId))
})

test('a client that does not read is disconnected', async () => {
  await using world = await createWorld(quiet)
  const reader = eventStream(world.gateway, world.tenantId).getReader()
  for (let count = 0; count < 20_000; count++) world.gateway.hub.publish(inboundEvent(String(count), world.tenantId))
  let lines = 0
  while (!(await reader.read()).done) lines++
  expect(lines).toBe(10_000)
})
