import { Database } from 'bun:sqlite'
import { type Findings, inspectSends, zero } from '../inspection.ts'
import { killRepeatedly } from '../kills.ts'
import { SendLoad } from '../load.ts'
import { eventually } from '../program.ts'
import { providerFaults } from '../provider-faults.ts'
import { RecordingReceiver } from '../recording-receiver.ts'
import type { ScenarioOptions } from '../scenario.ts'
import { TortureStage } from '../stage.ts'
import { InboundTraffic } from '../traffic.ts'

const BACK_FILL_MS = 60_000

/** Kills the gateway while contacts write and the gateway delivers their messages to an application. */
export async function inbound(options: ScenarioOptions): Promise<Findings> {
  await using receiver = new RecordingReceiver()
  await using stage = await TortureStage.open({ extensions: 2, webhookUrl: receiver.url })
  await stage.control.randomFaults(providerFaults(options.seed))
  const load = new SendLoad(stage, { message: (number) => outbound(stage, number), senders: 2, pauseMs: 40 })
  const traffic = new InboundTraffic(stage, options.random)
  await killRepeatedly(stage, load, 20, options)
  await traffic.stop()
  await load.stop()
  await stage.control.clearFaults()
  await stage.gateway.start()
  await untilBackFilled(stage, traffic)
  const sends = await inspectSends(stage, load, { distinctTexts: true })
  const received = inspectInbound(stage, traffic, receiver)
  return {
    figures: { ...sends.figures, ...received.figures },
    violations: [...sends.violations, ...received.violations],
  }
}

/** Message `number` of the load: from the extensions' numbers in turn to one contact. */
export const outbound = ({ numbers }: TortureStage, number: number) => ({
  from: numbers[number % numbers.length] ?? '',
  to: '+15557770001',
  body: `Reply ${number}`,
})

/** Waits until the back-fill of the last start has stored the messages that came without an event. */
export async function untilBackFilled(stage: TortureStage, traffic: InboundTraffic): Promise<void> {
  const complete = async (): Promise<true | null> => {
    const response = await stage.call('GET', '/v1/sms/messages?direction=inbound&limit=1')
    const { total } = (await response.json()) as { total: number }
    return total >= traffic.arrived.size ? true : null
  }
  await eventually('The back-fill', BACK_FILL_MS, complete).catch(() => null)
}

interface DeliveryRow {
  delivery_id: string
  outcome: string | null
}

/** Each inbound message is stored once. Each delivery is POSTed at most once, and exactly once if its log says so. */
export function inspectInbound(
  stage: TortureStage,
  traffic: InboundTraffic,
  receiver: RecordingReceiver,
  postedAgain: 'never' | 'after a restore' = 'never',
): Findings {
  const database = new Database(stage.databasePath)
  const ids = database.query(`SELECT rc_message_id AS id FROM messages WHERE direction = 'inbound'`).all() as {
    id: string
  }[]
  const deliveries = database.query('SELECT delivery_id, outcome FROM webhook_attempts').all() as DeliveryRow[]
  database.close()
  const stored = new Set(ids.map(({ id }) => id))
  const figures = {
    inbound: traffic.arrived.size,
    'events given twice or never': traffic.odd,
    'inbound missing': [...traffic.arrived].filter((id) => !stored.has(id)).length,
    'inbound stored twice': ids.length - stored.size,
    'webhooks POSTed': receiver.posts.size,
    'webhooks POSTed twice': [...receiver.posts.values()].filter((count) => count > 1).length,
    'webhooks without an outcome': deliveries.filter(({ outcome }) => outcome === null).length,
    'webhooks never tried': ids.length - deliveries.length,
    'success without a POST': deliveries.filter(
      ({ delivery_id, outcome }) => outcome === 'success' && !receiver.posts.has(delivery_id),
    ).length,
    'webhooks interrupted by a kill': deliveries.filter(({ outcome }) => outcome === 'network_error').length,
  }
  const demanded = [
    'inbound missing',
    'inbound stored twice',
    'webhooks without an outcome',
    'webhooks never tried',
    'success without a POST',
  ]
  return {
    figures,
    violations: zero(figures, postedAgain === 'never' ? [...demanded, 'webhooks POSTed twice'] : demanded),
  }
}
