import { Database } from 'bun:sqlite'
import { copyFileSync, rmSync } from 'node:fs'
import { type Findings, inspectSends } from '../inspection.ts'
import { SendLoad } from '../load.ts'
import { providerFaults } from '../provider-faults.ts'
import { RecordingReceiver } from '../recording-receiver.ts'
import { type ScenarioOptions, between } from '../scenario.ts'
import { TortureStage } from '../stage.ts'
import { InboundTraffic } from '../traffic.ts'
import { inspectInbound, outbound, untilBackFilled } from './inbound.ts'

/** Replaces the database with a copy that is some seconds old, so that only the provider knows what happened since. */
export async function restore(options: ScenarioOptions): Promise<Findings> {
  await using receiver = new RecordingReceiver()
  await using stage = await TortureStage.open({ extensions: 2, webhookUrl: receiver.url })
  await stage.control.randomFaults(providerFaults(options.seed))
  const load = new SendLoad(stage, { message: (number) => outbound(stage, number), senders: 4, pauseMs: 30 })
  const traffic = new InboundTraffic(stage, options.random)
  for (let restored = 1; restored <= options.kills; restored++) {
    await restoreCopy(stage, options)
    options.report(`${restored} restores`)
  }
  await Bun.sleep(1000)
  await traffic.stop()
  await load.stop()
  await stage.control.clearFaults()
  await stage.gateway.terminate()
  await stage.gateway.start()
  await untilBackFilled(stage, traffic)
  const sends = await inspectSends(stage, load, { distinctTexts: true, mayForget: true })
  // A restored database repeats deliveries that it does not know. They have the same ids, so an application can
  // recognize them.
  const received = inspectInbound(stage, traffic, receiver, 'after a restore')
  return {
    figures: { ...sends.figures, ...received.figures },
    violations: [...sends.violations, ...received.violations],
  }
}

async function restoreCopy(stage: TortureStage, { random }: ScenarioOptions): Promise<void> {
  const path = stage.databasePath
  const copy = `${path}.copy`
  await Bun.sleep(between(random, 200, 1500))
  rmSync(copy, { force: true })
  takeCopy(path, copy)
  await Bun.sleep(between(random, 300, 4000))
  await stage.gateway.kill()
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  copyFileSync(copy, path)
  await stage.gateway.start()
}

/** Takes a consistent copy while the gateway writes. */
function takeCopy(path: string, copy: string): void {
  const database = new Database(path)
  database.run('PRAGMA busy_timeout = 5000')
  database.query('VACUUM INTO ?').run(copy)
  database.close()
}
