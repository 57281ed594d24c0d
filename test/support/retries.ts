import { type ManualClock, manualClock } from './manual-clock.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type World, createWorld, until } from './world.ts'

/** A destination that answers 500 by default. `overlaps` lists deliveries that were posted twice at once. */
export function startFailingReceiver(): Receiver & { overlaps: string[] } {
  const receiver = startReceiver()
  const underWay = new Set<string>()
  const overlaps: string[] = []
  let answer: Receiver['answer'] = () => new Response('down', { status: 500 })
  const guarded: Receiver['answer'] = async (request) => {
    const id = request.headers['webhook-id'] ?? ''
    if (underWay.has(id)) overlaps.push(id)
    underWay.add(id)
    try {
      return await answer(request)
    } finally {
      underWay.delete(id)
    }
  }
  Object.defineProperty(receiver, 'answer', {
    get: () => guarded,
    set: (own: Receiver['answer']) => {
      answer = own
    },
  })
  return Object.assign(receiver, { overlaps })
}

export const setWebhookUrl = (world: World, webhookUrl: string | null): Promise<Response> =>
  world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl } })

export const setRetryPolicy = (world: World, policy: string): Promise<Response> =>
  world.call('PUT', `/v1/apps/${world.app.appId}/webhook-retries`, { body: { policy } })

/** Opens a world whose app posts to a failing receiver, with a retry policy. */
export async function openFailingWebhook(policy: string) {
  const clock = manualClock()
  const receiver = startFailingReceiver()
  const world = await createWorld({ clock })
  await setWebhookUrl(world, receiver.url)
  await setRetryPolicy(world, policy)
  return {
    world,
    clock,
    receiver,
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

/** Waits until no job is left. */
export const untilNoJobs = (world: World): Promise<boolean> =>
  until(async () => (await world.gateway.database.gate.execute('SELECT 1 FROM jobs')).rows.length === 0)

/** Resolves when no attempt is in progress or due. Later retries may remain. */
export const attemptsEnded = (world: World, clock: ManualClock): Promise<boolean> =>
  until(async () => {
    const { rows } = await world.gateway.database.gate.execute({
      sql: `SELECT 1 FROM webhook_attempts WHERE outcome IS NULL
        UNION ALL SELECT 1 FROM jobs WHERE kind IN ('webhook', 'webhook_retry') AND due_at <= ?1`,
      args: [clock.steady()],
    })
    return rows.length === 0
  })

/** Advances the clock in steps, and waits after each one until the due attempts have ended. */
export async function advanceInSteps(world: World, clock: ManualClock, ms: number, stepMs: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(Math.min(stepMs, ms - passed))
    await attemptsEnded(world, clock)
  }
}
