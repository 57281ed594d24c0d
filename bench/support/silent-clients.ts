import { openSocket } from '../../test/support/socket.ts'

// A process of clients that each open a WebSocket and send nothing. Arguments: address, number of clients. Prints one
// JSON list.

const [url = '', count = '0'] = process.argv.slice(2)
const WAVE = 50
const lifetimes: Promise<number | null>[] = []
for (let n = 0; n < Number(count); n++) {
  lifetimes.push(lifetimeOf(`198.51.${n >> 8}.${n & 255}`))
  // Clients come in waves, because two thousand simultaneous handshakes would block the server's event loop.
  if (n % WAVE === WAVE - 1) await Bun.sleep(10)
}
process.stdout.write(JSON.stringify(await Promise.all(lifetimes)))

/**
 * Returns the milliseconds from the handshake to the close frame, or null if it was refused. Each client has an address
 * of its own.
 */
async function lifetimeOf(address: string): Promise<number | null> {
  const socket = await openSocket(url, { 'x-forwarded-for': address }).catch(() => null)
  if (socket === null) return null
  const startedAt = performance.now()
  await socket.closed
  return performance.now() - startedAt
}
