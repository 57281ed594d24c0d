import { Database } from 'bun:sqlite'
import { EventFollower, type LoggedEvent } from '../event-follower.ts'
import { type Findings, inspectSends, zero } from '../inspection.ts'
import { killRepeatedly } from '../kills.ts'
import { SendLoad, distinctMessage } from '../load.ts'
import { providerFaults } from '../provider-faults.ts'
import type { ScenarioOptions } from '../scenario.ts'
import { BEFORE, TortureStage } from '../stage.ts'
import { InboundTraffic } from '../traffic.ts'
import { untilBackFilled } from './inbound.ts'

/** Kills the gateway about every second while an app follows the event log with its cursor. */
export async function events(options: ScenarioOptions): Promise<Findings> {
  await using stage = await TortureStage.open()
  const follower = await EventFollower.start(stage, options.random)
  await stage.control.randomFaults(providerFaults(options.seed))
  const load = new SendLoad(stage, { message: distinctMessage(stage.numbers), senders: 8, pauseMs: 10 })
  const traffic = new InboundTraffic(stage, options.random)
  await killRepeatedly(stage, load, 200, options)
  await traffic.stop()
  await load.stop()
  await stage.control.clearFaults()
  await stage.gateway.start()
  await untilBackFilled(stage, traffic)
  await stage.drained()
  await follower.stop()
  const sends = await inspectSends(stage, load, { distinctTexts: true })
  const log = inspectLog(stage, follower)
  return {
    figures: { ...sends.figures, inbound: traffic.arrived.size, ...log.figures },
    violations: [...sends.violations, ...log.violations],
  }
}

/**
 * Each ended message has its events `queued`, `sending` and `sent` or `failed` once and in this order. Each inbound
 * message has one event.
 */
function inspectLog({ databasePath }: TortureStage, { events: read, pages, gaps }: EventFollower): Findings {
  const database = new Database(databasePath)
  const followed = database.query('SELECT id, status FROM messages WHERE body != ?1')
  const rows = followed.all(BEFORE) as { id: string; status: string }[]
  database.close()
  const types = eventTypesOf(read)
  const wrong = rows.filter(({ id, status }) => types.get(id) !== expectedTypes(status))
  const known = new Set(rows.map(({ id }) => id))
  const figures = {
    'events read': read.length,
    'pages of events': pages,
    'pages with a gap': gaps,
    'messages with wrong events': wrong.length,
    'events of unknown messages': [...types.keys()].filter((id) => !known.has(id)).length,
  }
  const example = wrong[0]
  return {
    figures,
    violations: [
      ...zero(figures, ['pages with a gap', 'messages with wrong events', 'events of unknown messages']),
      ...(example === undefined ? [] : [`${example.id} is ${example.status}: ${types.get(example.id) ?? 'no event'}`]),
    ],
  }
}

const expectedTypes = (status: string): string => (status === 'received' ? 'sms_inbound' : `queued sending ${status}`)

/** Maps each message id to the types of its events, in order. */
function eventTypesOf(read: readonly LoggedEvent[]): Map<string, string> {
  const types = new Map<string, string>()
  for (const { type, messageId, status } of read) {
    const before = types.get(messageId)
    const word = type === 'sms_status' ? String(status) : type
    types.set(messageId, before === undefined ? word : `${before} ${word}`)
  }
  return types
}
