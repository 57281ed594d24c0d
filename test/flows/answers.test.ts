import { expect, test } from 'bun:test'
import { MEETINGS } from './answers/calls.ts'
import { CALLS, column } from './answers/table.ts'

// Answers × calls, over real HTTP. `test/provider/ringcentral/answers.test.ts` has more forms of each answer.

test.each(CALLS)(
  'what becomes of the call: %s',
  async (call) => {
    const { answers, expected } = column(call)
    const [open, met] = MEETINGS[call] ?? []
    if (open === undefined || met === undefined) throw new Error(`There is no call ${call}`)
    await using one = await open()
    const outcomes: Record<string, string> = {}
    for (const answer of answers) outcomes[answer.name] = await met(one, answer).catch((error: Error) => error.message)
    expect(outcomes).toEqual(expected)
  },
  120_000,
)
