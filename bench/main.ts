import { parseArgs } from 'node:util'
import { benchAccept } from './accept.ts'
import fanOut from './fan-out.ts'
import idle from './idle.ts'
import inbound from './inbound.ts'
import { benchLatency } from './latency.ts'
import memory from './memory.ts'
import purge from './purge.ts'
import { installRivals } from './rivals/install.ts'
import growth from './growth.ts'
import lists from './lists.ts'
import type { Row } from './row.ts'
import { benchSend, benchSlowSend } from './send.ts'
import { benchSilentSockets } from './silent-sockets.ts'
import start from './start.ts'

interface Bench {
  name: string
  run(): Promise<Row[]>
}

/**
 * Every bench. `bun run bench` runs all of them, `bun run bench start` those whose name has that word in it.
 * `--install-rivals` installs first what the comparisons need (Debian's packages and npm's). With
 * `BENCH_PROFILE=<folder>` every gateway leaves a CPU profile in that folder.
 */
const BENCHES: readonly Bench[] = [
  start,
  { name: 'accept', run: benchAccept },
  { name: 'send', run: benchSend },
  { name: 'send, provider at 150 ms', run: benchSlowSend },
  { name: 'latency', run: benchLatency },
  inbound,
  fanOut,
  idle,
  memory,
  lists,
  growth,
  purge,
  { name: 'silent sockets', run: benchSilentSockets },
]

// An ordinary exit, so that nobody who was started is left behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'install-rivals': { type: 'boolean', default: false }, long: { type: 'boolean', default: false } },
})
if (values['install-rivals']) installRivals()
const word = positionals[0] ?? ''
for (const bench of BENCHES) {
  if (!bench.name.includes(word)) continue
  process.stdout.write(`\n${bench.name}\n`)
  console.table(await bench.run())
}
