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
import { benchSilentNames } from './silent-names.ts'
import { benchSilentSockets } from './silent-sockets.ts'
import start from './start.ts'

interface Bench {
  name: string
  run(): Promise<Row[]>
}

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
  { name: 'silent names', run: benchSilentNames },
]

const HELP = `Usage: bun run bench [word] [--install-rivals] [--long]
Without a word all of them, else those whose name has it: ${BENCHES.map(({ name }) => name).join('; ')}.
  --install-rivals  installs first what the comparisons need, by apt-get and npm
  --long            memory goes on to a million sends
With BENCH_PROFILE=<folder> every gateway leaves a CPU profile in that folder.
`

// An ordinary exit, so that nobody who was started is left behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'install-rivals': { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const word = positionals[0] ?? ''
const wanted = BENCHES.filter(({ name }) => name.includes(word))
if (values.help || wanted.length === 0) {
  process.stdout.write(HELP)
  process.exit(values.help ? 0 : 1)
}
if (values['install-rivals']) installRivals()
for (const { name, run } of wanted) {
  process.stdout.write(`\n${name}\n`)
  console.table(await run())
}
