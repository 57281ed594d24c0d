import { type Deployment, NUMBER } from './deployment.ts'
import { until } from './world.ts'

/** What one crash with a lost volume cost. */
export interface Loss {
  acknowledged: number
  lost: number
  /** From the oldest acknowledged message that is gone to the kill; 0 when none is gone. */
  lossMs: number
  /** Until the gateway serves again, restore included. */
  restartMs: number
}

/** A message that was answered with 202. */
interface Acknowledged {
  messageId: string
  at: number
}

export interface Crash {
  /** Tells the messages of this crash from others. */
  label: string
  /** From the first message to the kill. */
  loadMs: number
  /** kill -9 of everything if absent; `stop` is a SIGTERM to all processes at once. */
  how?: 'kill' | 'stop'
  /** A start that is killed too, so long after it began; none if absent. */
  interruptedStartMs?: number
}

/** Sends for a while, ends everything, loses the volume, restores, and counts what is missing. */
export async function crashAndRestore(
  deployment: Deployment,
  { label, loadMs, how = 'kill', interruptedStartMs }: Crash,
): Promise<Loss> {
  const load = new Load(deployment, label)
  await Bun.sleep(loadMs)
  const killedAt = performance.now()
  if (how === 'kill') await deployment.crash(load.acknowledged.length % 2 === 0)
  else await deployment.terminateAll()
  await load.stop()
  deployment.loseVolume()
  if (interruptedStartMs !== undefined) await deployment.startAndKill(interruptedStartMs, { REQUIRE_RESTORE: '1' })
  const restartMs = await deployment.start({ REQUIRE_RESTORE: '1' })
  const missing = await missingOf(deployment, load.acknowledged)
  const oldest = Math.min(killedAt, ...missing.map(({ at }) => at))
  return {
    acknowledged: load.acknowledged.length,
    lost: missing.length,
    lossMs: Math.round(killedAt - oldest),
    restartMs: Math.round(restartMs),
  }
}

/** A message about every 20 ms, each with a text and a recipient of its own, from now on until it is stopped. */
export class Load {
  readonly acknowledged: Acknowledged[] = []
  #running = true
  readonly #sending: Promise<void>

  constructor(deployment: Deployment, label: string) {
    this.#sending = this.#send(deployment, label)
  }

  async stop(): Promise<void> {
    this.#running = false
    await this.#sending
  }

  async #send(deployment: Deployment, label: string): Promise<void> {
    let number = 0
    while (this.#running) {
      const response = await deployment
        .call('POST', '/v1/sms/send', { from: NUMBER, to: `+1555${7_000_000 + number}`, body: `${label} ${number++}` })
        .catch(() => null)
      const at = performance.now()
      const answer = (await response?.json().catch(() => null)) as { messageId: string } | null
      if (response?.status === 202 && answer !== null) this.acknowledged.push({ messageId: answer.messageId, at })
      await Bun.sleep(15)
    }
  }
}

/** Those that the gateway does not know. */
export async function missingOf(
  deployment: Deployment,
  acknowledged: readonly Acknowledged[],
): Promise<Acknowledged[]> {
  const missing: Acknowledged[] = []
  for (const message of acknowledged) {
    if ((await deployment.call('GET', `/v1/sms/status/${message.messageId}`)).status === 404) missing.push(message)
  }
  return missing
}

/** Texts of the messages that the provider has, newest last. */
export async function sentTexts(deployment: Deployment): Promise<string[]> {
  const filter = { direction: 'Outbound', limit: 1_000_000 }
  return (await deployment.simulator.control<{ text: string }[]>('messages', filter)).map(({ text }) => text)
}

/** Texts that the provider has more than once. */
export async function sentTwice(deployment: Deployment): Promise<string[]> {
  const seen = new Set<string>()
  return (await sentTexts(deployment)).filter((text) => seen.size === seen.add(text).size)
}

/** Until nothing waits. */
export async function untilDrained(deployment: Deployment, withinMs = 20_000): Promise<void> {
  await until(async () => {
    const { queue } = await deployment.command<{ queue: Record<string, unknown> }>('status')
    return Object.values(queue).every((count) => count === 0 || typeof count !== 'number')
  }, withinMs)
}
