// The floor: parses the same body and stores nothing. Arguments: the provider's address, the number of parallel calls.
// Prints its port. `GET /sent` returns the number of answered calls.

import type { Message } from './contestant.ts'
import { callProvider } from './provider-call.ts'

const [providerUrl = '', maxCalls = '0'] = process.argv.slice(2)
const waiting: Message[] = []
let inFlight = 0
let sent = 0

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method === 'GET') return new Response(String(sent))
    deliver((await request.json()) as Message)
    return Response.json({ messageId: 'msg_000000000000', status: 'queued' }, { status: 202 })
  },
})
process.stdout.write(`${server.port}\n`)

/** Last in, first out: this is the cheapest, and the floor guarantees no order. */
function deliver(message: Message): void {
  if (inFlight < Number(maxCalls)) void call(message)
  else waiting.push(message)
}

async function call(message: Message): Promise<void> {
  inFlight++
  for (let next: Message | undefined = message; next !== undefined; next = waiting.pop()) {
    await callProvider(providerUrl, next)
    sent++
  }
  inFlight--
}
