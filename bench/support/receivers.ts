// A process of webhook receivers, each on a port of its own. Argument: their number. It sends their addresses. It answers
// `{ expect }` when that many more POSTs have arrived. An arrival counts for the current question only.

let count = 0
let expected = Infinity

const servers = Array.from({ length: Number(process.argv[2] ?? 1) }, () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      await request.arrayBuffer()
      count++
      reportIfComplete()
      return new Response(null)
    },
  }),
)

process.on('message', (message: { expect: number }) => {
  expected = message.expect
  reportIfComplete()
})

function reportIfComplete(): void {
  if (count < expected) return
  process.send?.({ count, at: performance.timeOrigin + performance.now() })
  count = 0
  expected = Infinity
}

process.send?.(servers.map((server) => `http://127.0.0.1:${server.port}/hook`))

// Ends this process if the bench exits early.
process.on('disconnect', () => process.exit())
