import { Database } from 'bun:sqlite'
import { EventFollower, type LoggedEvent } from '../event-follower.ts'
import { type Findings, inspectSends, zero } from '../inspection.ts'
import { killAgainAndAgain } from '../kills.ts'
import { Load, distinctMessage } from '../load.ts'
import { providerFaults } from '../provider-faults.ts'
import type { ScenarioOptions } from '../scenario.ts'
import { Stage } from '../stage.ts'
import { InboundTraffic } from '../traffic.ts'
import { filledIn } from './inbound.ts'

/** kill -9 about every second, while an app follows the event log by its cursor. */
export async function events(options: ScenarioOptions): Promise<Findings> {
  await using stage = await Stage.open()
  const follower = await EventFollower.start(stage, options.random)
  await stage.control.randomFaults(providerFaults(options.seed))
  const load = new Load(stage, { message: distinctMessage(stage.numbers), senders: 8, pauseMs: 10 })
  const traffic = new InboundTraffic(stage, options.random)
  await killAgainAndAgain(stage, load, 200, options)
  await traffic.stop()
  await load.stop()
  await stage.control.clearFaults()
  await stage.gateway.start()
  await filledIn(stage, traffic)
  await stage.drained()
  await follower.stop()
  const sends = await inspectSends(stage, load, { distinctTexts: true })
  const log = inspectLog(stage, follower)
  return {
    figures: { ...sends.figures, inbound: traffic.arrived.size, ...log.figures },
    violations: [...sends.violations, ...log.violations],
  }
}

/** Each message that has ended has queued, sending and its end, each once and in this order; each inbound one its event. */
function inspectLog({ databasePath }: Stage, { events: read, pages, gaps }: EventFollower): Findings {
  const database = new Database(databasePath)
  const rows = database.query('SELECT id, status FROM messages').all() as { id: string; status: string }[]
  database.close()
  const stories = storiesOf(read)
  const wrong = rows.filter(({ id, status }) => stories.get(id) !== expectedStory(status))
  const known = new Set(rows.map(({ id }) => id))
  const figures = {
    'events read': read.length,
    'pages of events': pages,
    'pages with a gap': gaps,
    'messages with wrong events': wrong.length,
    'events of unknown messages': [...stories.keys()].filter((id) => !known.has(id)).length,
  }
  const example = wrong[0]
  return {
    figures,
    violations: [
      ...zero(figures, ['pages with a gap', 'messages with wrong events', 'events of unknown messages']),
      ...(example === undefined
        ? []
        : [`${example.id} is ${example.status}: ${stories.get(example.id) ?? 'no event'}`]),
    ],
  }
}

const expectedStory = (status: string): string => (status === 'received' ? 'sms_inbound' : `queued sending ${status}`)

/** Message id → what its events say, in their order. */
function storiesOf(read: readonly LoggedEvent[]): Map<string, string> {
  const stories = new Map<string, string>()
  for (const { type, messageId, status } of read) {
    const before = stories.get(messageId)
    const word = type === 'sms_status' ? String(status) : type
    stories.set(messageId, before === undefined ? word : `${before} ${word}`)
  }
  return stories
}
