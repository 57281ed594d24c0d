import type { Load } from './load.ts'
import { type ScenarioOptions, between } from './scenario.ts'
import type { Stage } from './stage.ts'

/** One of so many kills meets a gateway that is still starting. */
const STARTING_ONE_IN = 6
const LONGEST_LIFE_MS = 3000

/** kill -9, again and again; each life lasts for up to `messages` more acknowledged messages and a moment. */
export async function killAgainAndAgain(
  stage: Stage,
  load: Load,
  messages: number,
  options: ScenarioOptions,
): Promise<void> {
  const { kills, random, tell } = options
  for (let kill = 1; kill <= kills; kill++) {
    if (kill > 1) stage.gateway.spawn()
    if (kill > 1 && random() < 1 / STARTING_ONE_IN) await Bun.sleep(between(random, 30, 300))
    else await live(stage, load, messages, random)
    await stage.gateway.kill()
    if (kill % 10 === 0) tell(`${kill} kills, ${load.accepted.size} messages acknowledged`)
  }
}

async function live(stage: Stage, load: Load, messages: number, random: () => number): Promise<void> {
  await stage.gateway.serving()
  const deadline = performance.now() + LONGEST_LIFE_MS
  const enough = load.accepted.size + between(random, 1, messages)
  while (load.accepted.size < enough && performance.now() < deadline) await Bun.sleep(5)
  await Bun.sleep(between(random, 0, 100))
}
