import { type Findings, inspectSends, zero } from '../inspection.ts'
import { killRepeatedly } from '../kills.ts'
import { SendLoad, distinctMessage } from '../load.ts'
import { providerFaults } from '../provider-faults.ts'
import type { ScenarioOptions } from '../scenario.ts'
import { TortureStage } from '../stage.ts'

/** Kills the gateway under load from clients that repeat each request with its `Idempotency-Key` until it is answered. */
export async function keyed(options: ScenarioOptions): Promise<Findings> {
  await using stage = await TortureStage.open()
  await stage.control.randomFaults(providerFaults(options.seed))
  const load = new SendLoad(stage, { message: distinctMessage(stage.numbers), senders: 8, pauseMs: 10, keyed: true })
  await killRepeatedly(stage, load, 80, options)
  await stage.control.clearFaults()
  await stage.gateway.start()
  await load.stop()
  const { figures, violations } = await inspectSends(stage, load, { distinctTexts: true })
  return {
    figures,
    violations: [...violations, ...zero(figures, ['accepted without an answer']), ...load.ambiguousKeys],
  }
}
