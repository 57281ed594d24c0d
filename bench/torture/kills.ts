import type { SendLoad } from './load.ts'
import { type ScenarioOptions, between } from './scenario.ts'
import type { TortureStage } from './stage.ts'

/** One of this many kills hits a gateway that is still starting. */
const STARTING_ONE_IN = 6
const LONGEST_LIFE_MS = 3000

/**
 * Kills the gateway repeatedly with SIGKILL, each time after at most `messages` more acknowledged messages and a random
 * delay.
 */
export async function killRepeatedly(
  stage: TortureStage,
  load: SendLoad,
  messages: number,
  options: ScenarioOptions,
): Promise<void> {
  const { kills, random, report } = options
  for (let kill = 1; kill <= kills; kill++) {
    if (kill > 1) stage.gateway.spawn()
    if (kill > 1 && random() < 1 / STARTING_ONE_IN) await Bun.sleep(between(random, 30, 300))
    else await live(stage, load, messages, random)
    await stage.gateway.kill()
    if (kill % 10 === 0) report(`${kill} kills, ${load.accepted.size} messages acknowledged`)
  }
}

async function live(stage: TortureStage, load: SendLoad, messages: number, random: () => number): Promise<void> {
  await stage.gateway.serving()
  const deadline = performance.now() + LONGEST_LIFE_MS
  const enough = load.accepted.size + between(random, 1, messages)
  while (load.accepted.size < enough && performance.now() < deadline) await Bun.sleep(5)
  await Bun.sleep(between(random, 0, 100))
}
