import { openSocket } from '../../test/support/socket.ts'

// A process of clients that open a WebSocket each and say nothing. Arguments: address, how many. Prints one JSON list.

const [url = '', count = '0'] = process.argv.slice(2)
const WAVE = 50
const lives: Promise<number | null>[] = []
for (let n = 0; n < Number(count); n++) {
  lives.push(lifeOf(`198.51.${n >> 8}.${n & 255}`))
  // In waves: two thousand handshakes in one instant would hold the server's event loop.
  if (n % WAVE === WAVE - 1) await Bun.sleep(10)
}
process.stdout.write(JSON.stringify(await Promise.all(lives)))

/** Milliseconds from the handshake to the close frame; null when it was refused. Each comes from an address of its own. */
async function lifeOf(address: string): Promise<number | null> {
  const socket = await openSocket(url, { 'x-forwarded-for': address }).catch(() => null)
  if (socket === null) return null
  const startedAt = performance.now()
  await socket.closed
  return performance.now() - startedAt
}
