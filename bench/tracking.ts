import { Database } from 'bun:sqlite'
import type { Bench, BenchOptions, Row } from './bench.ts'
import { messageSender } from './gateway/accept-messages.ts'
import { BenchGateway } from './gateway/bench-gateway.ts'
import { THOUSAND_NUMBERS } from './gateway/numbers.ts'
import type { Source } from './gateway/source.ts'
import { median } from './support/alternate.ts'
import { cpuMicroseconds } from './support/cpu-time.ts'
import { eventually } from './torture/program.ts'

const MESSAGES = 20_000
const MESSAGES_SHORT = 4000
const DELIVERED_AFTER_MS = 3000
const CONCLUDED_MS = 120_000

interface Figures {
  'CPU µs a message': number
  'polls per 1,000 messages': number
}

/**
 * The cost of delivery tracking after a send: the delivery state, the polls of the extension, the conclusion and its
 * event.
 */
export const tracking: Bench = {
  name: 'tracking',
  async run(options) {
    const figures = new Map<Source, Figures[]>(options.sources.map((source) => [source, []]))
    for (let round = 0; round < options.rounds; round++)
      for (const [source, own] of figures) own.push(await measured(source, options))
    return [...figures].map(([source, own]) => rowOf(source, own))
  },
}

async function measured(source: Source, { short }: BenchOptions): Promise<Figures> {
  const count = short ? MESSAGES_SHORT : MESSAGES
  await using gateway = await BenchGateway.open({ ...THOUSAND_NUMBERS, source })
  const { control } = gateway.simulator
  await control.configure({ deliveredAfterMs: DELIVERED_AFTER_MS })
  await messageSender(gateway)(count)
  await gateway.drained()
  await control.clearRequests()
  const usedBefore = cpuMicroseconds([gateway.pid])
  const concluded = (): true | null => (concludedIn(gateway.databasePath) >= count ? true : null)
  await eventually('The delivery of all messages', CONCLUDED_MS, concluded)
  const polls = await control.requests({ route: 'message-store' })
  return {
    'CPU µs a message': (cpuMicroseconds([gateway.pid]) - usedBefore) / count,
    'polls per 1,000 messages': (polls.length / count) * 1000,
  }
}

/** Reads the database file, because a query would cost the gateway time. */
function concludedIn(path: string): number {
  using database = new Database(path, { readonly: true })
  database.run('PRAGMA busy_timeout = 5000')
  const sql = `SELECT count(*) AS concluded FROM delivery_states WHERE conclusion = 'delivered'`
  return (database.query(sql).get() as { concluded: number }).concluded
}

const rowOf = (source: Source, figures: readonly Figures[]): Row => ({
  case: source.label,
  'CPU µs a message': Math.round(median(figures.map((each) => each['CPU µs a message']))),
  'polls per 1,000 messages': median(figures.map((each) => each['polls per 1,000 messages'])).toFixed(1),
})
