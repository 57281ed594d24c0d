import { expect, test } from 'bun:test'
import { type Clock, systemClock } from '../../../src/core/clock.ts'
import { startReceiver } from '../../support/receiver.ts'
import { setRetryPolicy, setWebhookUrl } from '../../support/retries.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const HOUR_MS = 3_600_000

interface Destination {
  failures: number
  nextAttemptAt?: string
}

/** What is said of the app's destination after a first failure. */
async function afterFailure(world: World, policy: string, url: string): Promise<Destination> {
  await setWebhookUrl(world, url)
  await setRetryPolicy(world, policy)
  await world.control.injectSms({ text: 'Hello' })
  return until(async () => {
    const { body } = await world.json<{ destinations: Destination[] }>('GET', '/v1/overview?include=nextAttempt')
    return body.destinations.find(({ failures }) => failures > 0)
  })
}

test('a destination that fails says when what failed is tried again, also after the wall-clock was set back', async () => {
  const clock: Clock = { ...systemClock, now: () => Date.now() - HOUR_MS }
  await using world = await createWorld({ clock })
  await using receiver = startReceiver(500)
  const { nextAttemptAt = '' } = await afterFailure(world, 'short', receiver.url)
  const leftMs = Date.parse(nextAttemptAt) - clock.now()
  expect(leftMs).toBeGreaterThan(0)
  expect(leftMs).toBeLessThan(6000)
})

test('without retries it says of no attempt that it will be made', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver(500)
  expect(await afterFailure(world, 'none', receiver.url)).not.toHaveProperty('nextAttemptAt')
})

test('only who asks hears of the next attempt, and another include is refused', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver(500)
  expect(await afterFailure(world, 'short', receiver.url)).toHaveProperty('nextAttemptAt')
  const { body } = await world.json<{ destinations: Destination[] }>('GET', '/v1/overview')
  expect(body.destinations[0]).not.toHaveProperty('nextAttemptAt')
  expect(await world.json('GET', '/v1/overview?include=wrong')).toMatchObject({
    status: 400,
    body: { error: 'Invalid include' },
  })
})
