import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { systemClock } from '../core/clock.ts'
import type { NewExtension } from './arguments.ts'
import { type SimulatorControl, startSimulator } from './simulator.ts'

// The simulator as a program of its own: `bun src/simulator/main.ts --port 4010`. Prints one line with its address.

const HELP = `Usage: bun src/simulator/main.ts [options]
  --hostname <address>       default 127.0.0.1
  --port <port>              default 4010; 0 for any free port
  --socket-port <port>       for the sockets that bring events; default 0: any free port
  --client-id <id>           default sgw-simulator
  --client-secret <secret>   default sgw-simulator-secret
  --seed-extension <spec>    "Alice Smith:+16505550101,+16505550102"; may be repeated
  --jwt-file <file>          write a JWT of the first extension to this file
  --empty                    start without any extension
  --no-limits                switch the rate limits off
`

const { values } = parseArgs({
  options: {
    hostname: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '4010' },
    'socket-port': { type: 'string', default: '0' },
    'client-id': { type: 'string', default: 'sgw-simulator' },
    'client-secret': { type: 'string', default: 'sgw-simulator-secret' },
    'seed-extension': { type: 'string', multiple: true },
    'jwt-file': { type: 'string' },
    empty: { type: 'boolean', default: false },
    'no-limits': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const DEFAULT_SEED = ['Alice Smith:+16505550101']

if (values.help) process.stdout.write(HELP)
else await run()

async function run(): Promise<void> {
  const simulator = await startSimulator({
    hostname: values.hostname,
    port: Number(values.port),
    socketPort: Number(values['socket-port']),
    clock: systemClock,
    clientId: values['client-id'],
    clientSecret: values['client-secret'],
    limits: !values['no-limits'],
    environment: process.env['NODE_ENV'] ?? 'development',
  })
  const seeds = values['seed-extension'] ?? (values.empty ? [] : DEFAULT_SEED)
  for (const seed of seeds) simulator.control.addExtension(readSeed(seed))
  if (values['jwt-file'] !== undefined) writeJwt(simulator.control, values['jwt-file'])
  process.stdout.write(`Simulator listens on ${simulator.url}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void simulator.stop().then(() => process.exit(0)))
}

/** Where a restarted simulator has the same extensions, it has the same JWT. */
function writeJwt(control: SimulatorControl, file: string): void {
  const [first] = control.extensions()
  if (first === undefined) throw new Error('--jwt-file needs an extension: leave --empty out')
  const { jwt } = control.addJwt({ extensionId: first.extensionId })
  writeFileSync(file, `${jwt}\n`, { mode: 0o600 })
}

/** `name:number,number`, `name` or `number,number`. */
function readSeed(seed: string): NewExtension {
  const colon = seed.indexOf(':')
  const name = seed.startsWith('+') ? '' : colon < 0 ? seed : seed.slice(0, colon)
  const list = seed.startsWith('+') ? seed : colon < 0 ? '' : seed.slice(colon + 1)
  const numbers = list.split(',').filter((number) => number !== '')
  return name === '' ? { numbers } : { name, numbers }
}
