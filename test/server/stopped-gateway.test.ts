import { expect, test } from 'bun:test'
import { createWorld, until } from '../support/world.ts'

const GATEWAYS = 4
/** What the collector may take for a reference on the stack. */
const MOST_LEFT = 2

test('gateways that have stopped leave the memory', async () => {
  const stopped: WeakRef<object>[] = []
  for (let started = 0; started < GATEWAYS; started++) {
    await using world = await createWorld()
    stopped.push(new WeakRef(world.gateway))
  }
  const isMostGone = (): boolean => {
    Bun.gc(true)
    return stopped.filter((gateway) => gateway.deref() !== undefined).length <= MOST_LEFT
  }
  expect(await until(isMostGone)).toBe(true)
})
