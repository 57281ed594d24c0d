import { parseArgs } from 'node:util'
import { accept } from './accept.ts'
import { allTenants } from './all-tenants.ts'
import type { Bench } from './bench.ts'
import { consents } from './consents.ts'
import { consolePage } from './console.ts'
import { consoleHeap } from './console-heap.ts'
import { extensionSockets } from './extension-sockets.ts'
import { fanOut } from './fan-out.ts'
import { checkOut } from './gateway/checkout.ts'
import { OURS } from './gateway/source.ts'
import { growth } from './growth.ts'
import { idle } from './idle.ts'
import { inbound } from './inbound.ts'
import { latency } from './latency.ts'
import { lists } from './lists.ts'
import { mediaSend } from './media-send.ts'
import { memory } from './memory.ts'
import { operator } from './operator.ts'
import { purge } from './purge.ts'
import { installRivals } from './rivals/install.ts'
import { send, slowSend } from './send.ts'
import { silentNames } from './silent-names.ts'
import { silentSockets } from './silent-sockets.ts'
import { start } from './start.ts'
import { testKit } from './test-kit.ts'
import { tracking } from './tracking.ts'
import { worstInputs } from './worst-inputs.ts'

const BENCHES: readonly Bench[] = [
  start,
  accept,
  send,
  slowSend,
  mediaSend,
  tracking,
  latency,
  inbound,
  fanOut,
  idle,
  memory,
  lists,
  growth,
  operator,
  allTenants,
  purge,
  consents,
  silentNames,
  silentSockets,
  extensionSockets,
  testKit,
  consolePage,
  consoleHeap,
  worstInputs,
]

const HELP = `Usage: bun run bench [NAME] [--against REF] [--rounds N] [--short] [--long] [--install-rivals]
Runs every bench whose name begins with NAME, or all of them: ${BENCHES.map(({ name }) => name).join('; ')}.
  --against REF     runs another commit of this project in turn with the working copy; may be repeated. send and inbound then print
                    the lowest processor time of a message of each commit, others have one more contestant (purge, consents, silent names,
                    silent sockets, extension sockets, operator, all tenants, test kit, console, page heap and worst inputs measure the working copy alone)
  --rounds N        how often the contestants take turns, 3 if absent; more rounds even out a busy machine
  --short           a quarter of the time, and one round if --rounds is absent: to see that a bench works
  --long            memory goes on to a million sends, in lists one tenant has all messages, and page heap takes an hour
  --install-rivals  first installs what the comparisons need, by apt-get and npm
With BENCH_PROFILE=<folder> every gateway leaves a CPU profile in that folder.
Example: bun run bench send --against main
`

// An ordinary exit ends every started process and removes the checked-out commits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    against: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string' },
    short: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    'install-rivals': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const wanted = BENCHES.filter(({ name }) => name.startsWith(positionals[0] ?? ''))
if (values.help || wanted.length === 0) {
  process.stdout.write(HELP)
  process.exit(values.help ? 0 : 1)
}
if (values['install-rivals']) installRivals()
const { short, long } = values
const rounds = Number(values.rounds ?? (short ? 1 : 3))
const sources = [OURS, ...values.against.map((ref) => checkOut(ref))] as const
for (const { name, run } of wanted) {
  process.stdout.write(`\n${name}\n`)
  console.table(await run({ sources, rounds, short, long }))
}
