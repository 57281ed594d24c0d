import growth from './growth.ts'
import inbound from './inbound.ts'
import lists from './lists.ts'
import type { Row } from './row.ts'
import { benchAccept } from './send.ts'
import { benchSilentSockets } from './silent-sockets.ts'
import { benchStart } from './start.ts'

interface Bench {
  name: string
  run(): Promise<Row[]>
}

/** Every bench. `bun run bench` runs all of them, `bun run bench start` those whose name has that word in it. */
const BENCHES: readonly Bench[] = [
  { name: 'start', run: benchStart },
  { name: 'accept', run: benchAccept },
  inbound,
  lists,
  growth,
  { name: 'silent sockets', run: benchSilentSockets },
]

const word = process.argv[2] ?? ''
for (const bench of BENCHES) {
  if (!bench.name.includes(word)) continue
  process.stdout.write(`\n${bench.name}\n`)
  console.table(await bench.run())
}
