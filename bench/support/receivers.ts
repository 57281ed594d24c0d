// A process of webhook receivers, each on a port of its own. Argument: how many. Says their addresses; asked for
// `{ expect }`, it answers when that many more POSTs have come. Arrivals during one question count for it alone.

let count = 0
let expected = Infinity

const servers = Array.from({ length: Number(process.argv[2] ?? 1) }, () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      await request.arrayBuffer()
      count++
      tell()
      return new Response(null)
    },
  }),
)

process.on('message', (message: { expect: number }) => {
  expected = message.expect
  tell()
})

function tell(): void {
  if (count < expected) return
  process.send?.({ count, at: performance.timeOrigin + performance.now() })
  count = 0
  expected = Infinity
}

process.send?.(servers.map((server) => `http://127.0.0.1:${server.port}/hook`))

// No process is left behind when the bench ends early.
process.on('disconnect', () => process.exit())
