import { describe, expect, test } from 'bun:test'
import { Case } from '../fault-table/case.ts'
import { FAULTS } from '../fault-table/faults.ts'
import { contact, record, sendEach, texts, untilSent, watchCalls } from './conversations.ts'

// What the first calls of a number meet must not let later messages overtake earlier ones.

const MESSAGES = 20
const SEND = { method: 'sendSms', route: 'sms' } as const

function strikeSends(one: Case, name: string): void {
  const fault = FAULTS.find((known) => known.name === name)
  if (fault === undefined) throw new Error(`There is no fault ${name}`)
  one.suffer(SEND, fault, 2)
}

const BEHIND: Record<string, { env?: Record<string, string>; meet: (one: Case) => void }> = {
  'a 429 with Retry-After': { meet: (one) => strikeSends(one, '429 with Retry-After') },
  'a 429 without Retry-After': { meet: (one) => strikeSends(one, '429 without Retry-After') },
  'a refused connection': { meet: (one) => strikeSends(one, 'refused') },
  'a failing DNS': { meet: (one) => strikeSends(one, 'DNS failure') },
  'a 503': { meet: (one) => strikeSends(one, '503') },
  'a lost answer': { meet: (one) => strikeSends(one, 'reset after accept') },
  'a lost request': { meet: (one) => strikeSends(one, 'reset before read') },
  refresh_failed: { meet: ({ world }) => loseTokens(world.control) },
  'a full rate window': { env: { FROM_LIMIT_PER_MINUTE: '6' }, meet: () => undefined },
}

/** The access token is refused, and it cannot be refreshed at first. */
function loseTokens(control: Case['world']['control']): void {
  const extensionId = control.extensions()[0]?.extensionId ?? ''
  control.fault({ route: 'token', calls: 2, fault: { kind: 'respond', status: 500 } })
  control.expireTokens({ extensionId })
}

const openCase = (env: Record<string, string> = {}): Promise<Case> => Case.open({ env })

describe.each(Object.entries(BEHIND))('behind %s', (_name, { env, meet }) => {
  test('20 messages of one conversation go out in the order of acceptance', async () => {
    await using one = await openCase(env)
    meet(one)
    const bodies = texts(MESSAGES)
    await sendEach(one.world, bodies)
    await untilSent(one, MESSAGES)
    expect(record(one.world)).toEqual(bodies)
  })

  test('calls for 20 contacts of one number begin in the order of acceptance', async () => {
    await using one = await openCase(env)
    const begun = watchCalls(one.world)
    meet(one)
    await sendEach(one.world, texts(MESSAGES), contact)
    await untilSent(one, MESSAGES)
    expect([...new Set(begun)]).toEqual(texts(MESSAGES))
    expect(record(one.world).toSorted()).toEqual(texts(MESSAGES).toSorted())
  })
})

test('a message that is tried again goes before those that were accepted after it', async () => {
  await using one = await openCase({ FROM_LIMIT_PER_MINUTE: '4' })
  const begun = watchCalls(one.world)
  one.world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '20' } } })
  await sendEach(one.world, texts(8), contact)
  await untilSent(one, 8)
  // Up to three others begin before the refusal has come: the window lets no more than four begin in a minute.
  const again = begun.lastIndexOf('part 1')
  expect(again).toBeGreaterThanOrEqual(1)
  expect(again).toBeLessThanOrEqual(4)
  expect(begun.toSpliced(again, 1)).toEqual(texts(8))
})
