import { Database } from 'bun:sqlite'
import { BenchGateway } from '../gateway/bench-gateway.ts'
import { THOUSAND_NUMBERS } from '../gateway/numbers.ts'
import type { Source } from '../gateway/source.ts'
import { toContestantCore } from '../support/cores.ts'
import { type Contestant, postRequest, requests } from './contestant.ts'

/** The gateway of a commit, with a real key and every check. Only the environment raises its limits. */
export const sgw = (source: Source): Contestant => ({
  name: source.label,
  missing: () => null,
  async start({ provider, env }) {
    const gateway = await BenchGateway.open({
      ...THOUSAND_NUMBERS,
      source,
      provider,
      env,
      started: toContestantCore,
    })
    return {
      port: gateway.port,
      pids: [gateway.pid],
      request: requests((message) => postRequest('/v1/sms/send', message, [`Authorization: Bearer ${gateway.key}`])),
      stored: () => Promise.resolve(sentMessages(gateway.databasePath)),
      [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
    }
  },
})

/** Reads the database file, because a query would cost the gateway time. */
function sentMessages(path: string): number {
  using database = new Database(path, { readonly: true })
  database.run('PRAGMA busy_timeout = 5000')
  const row = database.query(`SELECT count(*) AS sent FROM messages WHERE status = 'sent'`).get() as { sent: number }
  return row.sent
}
