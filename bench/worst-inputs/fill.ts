import type { BenchGateway } from '../gateway/bench-gateway.ts'
import { ownNumber, toOf } from '../gateway/numbers.ts'
import { Connections } from '../support/posts.ts'
import { inputOf } from './input.ts'

const CONNECTIONS = 16
/** As many as the largest page has. */
const MESSAGES = 1000
/** As long as a text may be, of characters that take six bytes each in JSON. */
const LONGEST = '\u0001'.repeat(1600)

/** Sends the longest texts, so that lists and pages of events are as long as they can be. Returns a cursor before them. */
export async function fillWithLongTexts(gateway: BenchGateway): Promise<string> {
  const { cursor } = await gateway.call<{ cursor: string }>('GET', '/v1/events')
  const headers = { Authorization: `Bearer ${gateway.key}` }
  const requests = Array.from({ length: MESSAGES }, (_, n) => {
    const body = JSON.stringify({ from: ownNumber(0, 0), to: toOf(n), body: LONGEST })
    return inputOf('', { method: 'POST', path: '/v1/sms/send', headers, body }).bytes.toString()
  })
  using connections = await Connections.open(gateway.port, CONNECTIONS)
  const { refused } = await connections.postAll(requests)
  if (refused > 0) throw new Error(`${refused} of ${MESSAGES} messages were refused`)
  await gateway.drained()
  return cursor
}
