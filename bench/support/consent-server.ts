// RingCentral's list of consents with as many opt-outs as the argument says: those of `writeManyMessages`, then of strangers.

const total = Number(process.argv[2])
const SINCE = Date.parse('2026-01-01T00:00:00Z')

interface Search {
  optStatus: string
  perPage: number
  pageToken?: string
}

const recordOf = (n: number) => ({
  from: '+15555550100',
  to: n < 10_000 ? `+1555777${String(n).padStart(4, '0')}` : `+1556${String(n).padStart(7, '0')}`,
  optStatus: 'OptOut',
  coverage: 'PhoneNumber',
  source: 'Recipient',
  lastModifiedTime: new Date(SINCE + n * 1000).toISOString(),
})

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (!request.url.endsWith('/search')) return new Response(null, { status: 404 })
    const { optStatus, perPage, pageToken = '0' } = (await request.json()) as Search
    const start = Number(pageToken)
    const end = optStatus === 'OptOut' ? Math.min(total, start + perPage) : start
    const records = Array.from({ length: end - start }, (_, at) => recordOf(start + at))
    const next = optStatus === 'OptOut' && end < total ? { nextPageToken: String(end) } : {}
    return Response.json({ records, paging: { perPage, pageToken, ...next } })
  },
})
process.send?.(server.port)
