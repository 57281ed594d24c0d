import { Database } from 'bun:sqlite'
import { toContestantCore } from '../support/cores.ts'
import { Stage } from '../torture/stage.ts'
import { type Contestant, postRequest, textOf, toOf } from './contestant.ts'

/** A fast gateway would run into the stage's own limits. */
const NO_LIMIT = '1000000000'
const LIMITS = { KEY_LIMIT_PER_MINUTE: NO_LIMIT, FROM_LIMIT_PER_MINUTE: NO_LIMIT, EXTENSION_LIMIT_PER_MINUTE: NO_LIMIT }

/** This gateway: a real key, every check, limits raised by the environment alone. */
export const sgw: Contestant = {
  name: 'sgw',
  missing: () => null,
  async start({ provider, env }) {
    const stage = await Stage.open({
      extensions: 1,
      numbersPerExtension: 1,
      env: { ...LIMITS, PROVIDER_TIMEOUT: '15s', ...env },
      inFront: async (simulatorUrl) => {
        await provider.handOnTo(simulatorUrl)
        return provider.url
      },
    })
    const pid = stage.gateway.pid ?? 0
    toContestantCore(pid)
    return {
      port: stage.gateway.options.port,
      pids: [pid],
      request: (n) =>
        postRequest('/v1/sms/send', { to: toOf(n), from: stage.numbers[0] ?? '', body: textOf(n) }, [
          `Authorization: Bearer ${stage.key}`,
        ]),
      stored: () => Promise.resolve(sentMessages(stage.databasePath)),
      [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
    }
  },
}

/** From the file itself, so that the gateway is not asked. */
function sentMessages(path: string): number {
  using database = new Database(path, { readonly: true })
  database.run('PRAGMA busy_timeout = 5000')
  const row = database.query(`SELECT count(*) AS sent FROM messages WHERE status = 'sent'`).get() as { sent: number }
  return row.sent
}
