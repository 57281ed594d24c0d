// The floor: parses the same body and keeps nothing. Arguments: the provider's address, how many calls at once.
// Prints its port. `GET /sent` answers how many calls were answered.

const [providerUrl = '', lanes = '0'] = process.argv.slice(2)
const waiting: string[] = []
let inFlight = 0
let sent = 0

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method === 'GET') return new Response(String(sent))
    const { to, body } = (await request.json()) as { to: string; body: string }
    deliver(body)
    return Response.json({ messageId: 'msg_000000000000', status: to ? 'queued' : '' }, { status: 202 })
  },
})
process.stdout.write(`${server.port}\n`)

/** Whoever came last goes first: taking from the end costs nothing, and no order is promised. */
function deliver(text: string): void {
  if (inFlight < Number(lanes)) void call(text)
  else waiting.push(text)
}

async function call(text: string): Promise<void> {
  inFlight++
  for (let next: string | undefined = text; next !== undefined; next = waiting.pop()) {
    const response = await fetch(`${providerUrl}/send`, { method: 'POST', body: JSON.stringify({ text: next }) })
    await response.json()
    sent++
  }
  inFlight--
}
