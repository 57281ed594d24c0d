import { type Findings, inspectSends } from '../inspection.ts'
import { killRepeatedly } from '../kills.ts'
import { SendLoad } from '../load.ts'
import { providerFaults } from '../provider-faults.ts'
import type { ScenarioOptions } from '../scenario.ts'
import { TortureStage } from '../stage.ts'

const RECIPIENTS = 10

/** Like `kill`, but with one text for all messages and few numbers, so that only ids distinguish the messages. */
export async function identical(options: ScenarioOptions): Promise<Findings> {
  await using stage = await TortureStage.open({ extensions: 2, numbersPerExtension: 1 })
  await stage.control.randomFaults(providerFaults(options.seed))
  const { numbers } = stage
  const message = (number: number) => ({
    from: numbers[number % numbers.length] ?? '',
    to: `+155577700${String(Math.floor(number / numbers.length) % RECIPIENTS).padStart(2, '0')}`,
    body: 'Your table is ready',
  })
  const load = new SendLoad(stage, { message, senders: 2, pauseMs: 60 })
  await killRepeatedly(stage, load, 20, options)
  await load.stop()
  await stage.control.clearFaults()
  await stage.gateway.start()
  return await inspectSends(stage, load, { distinctTexts: false })
}
