import { expect, test } from 'bun:test'
import type { Fault } from '../../../src/simulator/faults.ts'
import { createWorld, recordedLog, until } from '../../support/world.ts'

const UNKNOWN = 'it is not known whether the provider accepted the message: looking it up'
const NOT_TAKEN = 'the provider did not accept the message'

test.each<[name: string, fault: Fault, said: string, unsaid: string]>([
  ['was reset', { kind: 'reset' }, UNKNOWN, NOT_TAKEN],
  ['was answered 502', { kind: 'respond', status: 502 }, UNKNOWN, NOT_TAKEN],
  ['was answered 429', { kind: 'respond', status: 429 }, NOT_TAKEN, UNKNOWN],
])('the log says of a call that %s what is known about its message', async (_, fault, said, unsaid) => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log })
  world.control.fault({ route: 'sms', fault })
  await world.send()
  await until(() => lines.some((line) => line.includes(said)))
  expect(lines.join('\n')).not.toContain(unsaid)
})
