import { parseArgs } from 'node:util'
import { seededRandom } from '../../src/simulator/random.ts'
import type { Findings } from './inspection.ts'
import type { Scenario } from './scenario.ts'
import { events } from './scenarios/events.ts'
import { files } from './scenarios/files.ts'
import { identical } from './scenarios/identical.ts'
import { inbound } from './scenarios/inbound.ts'
import { keyed } from './scenarios/keyed.ts'
import { kill } from './scenarios/kill.ts'
import { restore } from './scenarios/restore.ts'
import { sigterm } from './scenarios/sigterm.ts'

// Torture tests with real processes: a gateway is killed repeatedly while it sends and receives.

const SCENARIOS: Record<string, { run: Scenario; kills: number; description: string }> = {
  kill: { run: kill, kills: 200, description: 'kill -9 under load, every text once' },
  identical: { run: identical, kills: 60, description: 'kill -9 under load, one text for everyone' },
  keyed: { run: keyed, kills: 60, description: 'kill -9 under load, requests are repeated with their Idempotency-Key' },
  inbound: { run: inbound, kills: 100, description: 'kill -9 with inbound and outbound traffic' },
  events: { run: events, kills: 100, description: 'kill -9 while an app follows the event log' },
  sigterm: { run: sigterm, kills: 20, description: 'SIGTERM under load' },
  restore: { run: restore, kills: 10, description: 'a copy that is some seconds old replaces the database' },
  files: { run: files, kills: 200, description: 'the files are overwritten, moved, cut and deleted under load' },
}

const HELP = `Usage: bun run torture <scenario> [--kills N] [--seed S]
${Object.entries(SCENARIOS)
  .map(([name, { kills, description }]) => `  ${name.padEnd(10)} ${description} (${kills} times)`)
  .join('\n')}
With RC_EVENTS=websocket texts come over sockets. With TORTURE_KEEP=1 the folder with database and logs is kept.
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kills: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean', default: false } },
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
process.exit(await main())

async function main(): Promise<number> {
  const [name = '', ...others] = positionals
  const scenario = others.length === 0 && Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined
  if (scenario === undefined || values.help) {
    process.stdout.write(HELP)
    return values.help ? 0 : 2
  }
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const kills = Number(values.kills ?? scenario.kills)
  printLine(`${name}: ${kills} times, seed ${seed}`)
  const startedAt = performance.now()
  const findings = await scenario.run({ kills, seed, random: seededRandom(seed), report: printLine })
  print(findings)
  printLine(`took ${Math.round((performance.now() - startedAt) / 1000)} s`)
  return findings.violations.length === 0 ? 0 : 1
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

function print({ figures, violations }: Findings): void {
  for (const [name, figure] of Object.entries(figures)) printLine(`  ${name.padEnd(30)} ${String(figure).padStart(8)}`)
  printLine(
    violations.length === 0 ? 'Everything held.' : violations.map((violation) => `VIOLATION: ${violation}`).join('\n'),
  )
}
