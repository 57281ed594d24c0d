import { type Deployment, NUMBER } from './deployment.ts'
import { until } from './world.ts'

/** The loss after one crash with a lost volume. */
export interface Loss {
  acknowledged: number
  lost: number
  /** From the oldest lost acknowledged message to the kill. 0 if none is lost. */
  lossMs: number
  /** The time until the gateway serves again, including the restore. */
  restartMs: number
}

/** A message that was answered with 202. */
interface Acknowledged {
  messageId: string
  at: number
}

export interface Crash {
  /** Distinguishes the messages of this crash from others. */
  label: string
  /** From the first message to the kill. */
  loadMs: number
  /** `kill` (default) is a SIGKILL to all processes, `stop` a SIGTERM to all processes at once. */
  how?: 'kill' | 'stop'
  /** If set, the next start is killed after this time. */
  interruptedStartMs?: number
}

/** Sends for a while, ends all processes, deletes the volume, restores, and counts the missing messages. */
export async function crashAndRestore(
  deployment: Deployment,
  { label, loadMs, how = 'kill', interruptedStartMs }: Crash,
): Promise<Loss> {
  const load = new BackupLoad(deployment, label)
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

/** Sends a message about every 20 ms until it is stopped. Each message has a text and a recipient of its own. */
export class BackupLoad {
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

/** Returns the messages that the gateway does not know. */
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

/** Returns the texts of the messages that the provider has, oldest first. */
export async function sentTexts(deployment: Deployment): Promise<string[]> {
  const filter = { direction: 'Outbound', limit: 1_000_000 }
  return (await deployment.simulator.control<{ text: string }[]>('messages', filter)).map(({ text }) => text)
}

/** Returns the texts that the provider has more than once. */
export async function sentTwice(deployment: Deployment): Promise<string[]> {
  const seen = new Set<string>()
  return (await sentTexts(deployment)).filter((text) => seen.size === seen.add(text).size)
}

/** Waits until no job is left. */
export async function untilDrained(deployment: Deployment, withinMs = 20_000): Promise<void> {
  let queue: Record<string, unknown> = {}
  await until(async () => {
    queue = (await deployment.command<{ queue: Record<string, unknown> }>('status')).queue
    return Object.values(queue).every((count) => count === 0 || typeof count !== 'number')
  }, withinMs).catch((cause: unknown) => {
    const output = deployment.output().slice(-OUTPUT_CHARACTERS)
    throw new Error(`Still in the queue after ${withinMs} ms: ${JSON.stringify(queue)}\n${output}`, { cause })
  })
}

const OUTPUT_CHARACTERS = 6000
