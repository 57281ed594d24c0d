import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { systemClock } from '../core/clock.ts'
import { codeOf } from '../core/error-code.ts'
import { DELIVERED_AFTER_MS } from '../core/simulator-access.ts'
import { EXIT } from '../core/start-error.ts'
import type { NewExtension } from '../core/provider-changes.ts'
import { type SimulatorControl, startSimulator } from './simulator.ts'

// The simulator as a standalone program: `bun src/simulator/main.ts --port 4010`. Prints one line with its address.

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

const DEFAULT_SEED = ['Alice Smith:+16505550101']

try {
  const options = readOptions()
  if (options.help) process.stdout.write(HELP)
  else await run(options)
} catch (error) {
  process.stderr.write(`${whyNot(error)}\n`)
  process.exit(codeOf(error) === 'EADDRINUSE' ? EXIT.unavailable : EXIT.failure)
}

type Options = ReturnType<typeof readOptions>

function readOptions() {
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
  return { ...values, port: readPort('port', values.port), socketPort: readPort('socket-port', values['socket-port']) }
}

function readPort(option: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Error(`--${option} must be a number from 0 to 65535`)
}

async function run(options: Options): Promise<void> {
  const simulator = await startSimulator({
    hostname: options.hostname,
    port: options.port,
    socketPort: options.socketPort,
    clock: systemClock,
    clientId: options['client-id'],
    clientSecret: options['client-secret'],
    limits: !options['no-limits'],
    environment: process.env['NODE_ENV'] ?? 'development',
  })
  simulator.control.configure({ deliveredAfterMs: DELIVERED_AFTER_MS })
  const seeds = options['seed-extension'] ?? (options.empty ? [] : DEFAULT_SEED)
  for (const seed of seeds) simulator.control.addExtension(readSeed(seed))
  if (options['jwt-file'] !== undefined) writeJwt(simulator.control, options['jwt-file'])
  process.stdout.write(`Simulator listens on ${simulator.url}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void simulator.stop().then(() => process.exit(0)))
}

/** One line for a person, in place of a stack. */
function whyNot(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const taken = codeOf(error) === 'EADDRINUSE' ? (/port (\d+)/i.exec(message)?.[1] ?? '') : null
  return taken === null
    ? message
    : `Port ${taken} is in use: stop the other program, or choose another port with --port or --socket-port`
}

/** A restarted simulator with the same extensions has the same JWT. */
function writeJwt(control: SimulatorControl, file: string): void {
  const [first] = control.extensions()
  if (first === undefined) throw new Error('--jwt-file needs an extension: omit --empty')
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
