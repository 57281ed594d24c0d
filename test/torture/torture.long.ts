import { expect, test } from 'bun:test'
import type { Scenario } from '../../bench/torture/scenario.ts'
import { events } from '../../bench/torture/scenarios/events.ts'
import { files } from '../../bench/torture/scenarios/files.ts'
import { identical } from '../../bench/torture/scenarios/identical.ts'
import { inbound } from '../../bench/torture/scenarios/inbound.ts'
import { keyed } from '../../bench/torture/scenarios/keyed.ts'
import { kill } from '../../bench/torture/scenarios/kill.ts'
import { restore } from '../../bench/torture/scenarios/restore.ts'
import { sigterm } from '../../bench/torture/scenarios/sigterm.ts'
import { seededRandom } from '../../src/simulator/random.ts'

// The short form of `bun run torture`, with all scenarios in parallel. docs/measured.md has the figures of the long
// form.

const SHORT_FORM: [name: string, scenario: Scenario, times: number][] = [
  ['kill -9 under load', kill, 10],
  ['kill -9 with one text for everyone', identical, 4],
  ['kill -9 with requests that are repeated', keyed, 4],
  ['kill -9 with inbound traffic', inbound, 4],
  ['kill -9 while an app follows the event log', events, 4],
  ['SIGTERM under load', sigterm, 3],
  ['a restore from a copy that is some seconds old', restore, 2],
  ['files that are overwritten, moved, cut and deleted', files, 4],
]
const TIMEOUT_MS = 180_000

test.concurrent.each(SHORT_FORM)(
  'no message is lost or sent twice: %s',
  async (name, scenario, times) => {
    const seed = Date.now() % 1_000_000
    const findings = await scenario({ kills: times, seed, random: seededRandom(seed), report: () => {} })
    expect({ name, seed, violations: findings.violations }).toEqual({ name, seed, violations: [] })
    expect(findings.figures['acknowledged']).toBeGreaterThan(times)
  },
  TIMEOUT_MS,
)
