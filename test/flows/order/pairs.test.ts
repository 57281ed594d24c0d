import { expect, test } from 'bun:test'
import { seededRandom } from '../../../src/simulator/random.ts'
import { type World, createWorld } from '../../support/world.ts'
import { contact, record } from './conversations.ts'

const PAIRS = 40
const NO_LIMITS = { FROM_LIMIT_PER_MINUTE: '1000', EXTENSION_LIMIT_PER_MINUTE: '1000' }

/** Makes calls take 100 to 300 ms, half of it before and half after the provider accepts. */
function slowDown(world: World): void {
  const { provider } = world.gateway
  const call = provider.sendSms
  const random = seededRandom(7)
  provider.sendSms = async (token, message) => {
    const ms = 50 + random() * 100
    await Bun.sleep(ms)
    const result = await call(token, message)
    await Bun.sleep(ms)
    return result
  }
}

test('with a provider that answers in 100 to 300 ms, none of 40 pairs of messages is swapped', async () => {
  await using world = await createWorld({ env: NO_LIMITS })
  world.control.setLimits({ enabled: false })
  await world.untilStatus(await world.send())
  slowDown(world)
  const pair = async (n: number): Promise<void> => {
    for (const part of [1, 2]) last[n] = await world.send({ to: contact(n), body: `pair ${n} part ${part}` })
  }
  const last: string[] = []
  await Promise.all(Array.from({ length: PAIRS }, (_, n) => pair(n)))
  for (const id of last) expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
  const sent = record(world)
  expect(sent).toHaveLength(2 * PAIRS + 1)
  const swapped = last.filter((_, n) => sent.indexOf(`pair ${n} part 1`) > sent.indexOf(`pair ${n} part 2`))
  expect(swapped).toEqual([])
})
