import { type Findings, inspectSends } from '../inspection.ts'
import { SendLoad, distinctMessage } from '../load.ts'
import { providerFaults } from '../provider-faults.ts'
import { type ScenarioOptions, between } from '../scenario.ts'
import { TortureStage } from '../stage.ts'

const STOP_WITHIN_MS = 9000
/** At every fourth SIGTERM, one kind of provider call hangs for longer than the gateway may take to stop. */
const HANG_EVERY = 4
const HANGING_ROUTES = ['sms', 'message-store', 'subscription-list']
const HANG_MS = 20_000

/** Stops the gateway under load. It must exit with 0 within 9 s and answer all open requests. */
export async function sigterm(options: ScenarioOptions): Promise<Findings> {
  await using stage = await TortureStage.open({ env: { PROVIDER_TIMEOUT: '15s' } })
  await stage.control.randomFaults(providerFaults(options.seed, false))
  const { numbers } = stage
  const load = new SendLoad(stage, { message: distinctMessage(numbers), senders: 6, pauseMs: 10 })
  const stops = await stopRepeatedly(stage, load, options)
  await load.stop()
  await stage.control.clearFaults()
  await stage.gateway.start()
  const sends = await inspectSends(stage, load, { distinctTexts: true })
  const slowest = Math.max(...stops.map(({ ms }) => ms))
  const figures = { 'requests cut': load.cut.length, 'slowest stop s': Math.round(slowest / 100) / 10 }
  const wrong = [
    ...stops.flatMap(({ code }, index) => (code === 0 ? [] : [`SIGTERM ${index + 1}: exit code ${code}`])),
    ...stops.flatMap(({ ms }, index) => (ms <= STOP_WITHIN_MS ? [] : [`SIGTERM ${index + 1}: ${Math.round(ms)} ms`])),
    ...load.cut.map((code) => `a request was cut: ${code}`),
  ]
  return { figures: { ...sends.figures, ...figures }, violations: [...sends.violations, ...wrong] }
}

async function stopRepeatedly(stage: TortureStage, load: SendLoad, options: ScenarioOptions) {
  const stops: { code: number | null; ms: number }[] = []
  for (let stop = 0; stop < options.kills; stop++) {
    if (stop > 0) await restart(stage, stop)
    await Bun.sleep(between(options.random, 50, 700))
    load.noteStop()
    const stopped = await stage.gateway.terminate()
    options.report(`SIGTERM ${stop + 1}: exit code ${stopped.code} after ${Math.round(stopped.ms)} ms`)
    stops.push(stopped)
  }
  return stops
}

/** Starts the gateway again, at times with a provider that does not answer one kind of call. */
async function restart(stage: TortureStage, stop: number): Promise<void> {
  if (stop % HANG_EVERY === 1) {
    const route = HANGING_ROUTES[Math.floor(stop / HANG_EVERY) % HANGING_ROUTES.length] ?? 'sms'
    await stage.control.fault({ route, fault: { kind: 'hang', ms: HANG_MS } })
  }
  await stage.gateway.start()
}
