import { type Findings, inspectSends } from '../inspection.ts'
import { killRepeatedly } from '../kills.ts'
import { SendLoad, distinctMessage } from '../load.ts'
import { providerFaults } from '../provider-faults.ts'
import type { ScenarioOptions } from '../scenario.ts'
import { TortureStage } from '../stage.ts'

/** Kills the gateway at random times under load. Every message has a text of its own. */
export async function kill(options: ScenarioOptions): Promise<Findings> {
  await using stage = await TortureStage.open()
  await stage.control.randomFaults(providerFaults(options.seed))
  const load = new SendLoad(stage, { message: distinctMessage(stage.numbers), senders: 8, pauseMs: 10 })
  await killRepeatedly(stage, load, 80, options)
  await load.stop()
  await stage.control.clearFaults()
  await stage.gateway.start()
  return await inspectSends(stage, load, { distinctTexts: true })
}
