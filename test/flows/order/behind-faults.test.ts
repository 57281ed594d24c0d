import { describe, expect, test } from 'bun:test'
import { FaultCase } from '../fault-table/case.ts'
import { FAULTS } from '../fault-table/faults.ts'
import { contact, record, sendEach, texts, untilSent, watchCalls } from './conversations.ts'

// Faults of the first calls of a number must not let later messages overtake earlier ones.

const MESSAGES = 20
const SEND = { method: 'sendSms', route: 'sms' } as const

function addSendFault(one: FaultCase, name: string): void {
  const fault = FAULTS.find((known) => known.name === name)
  if (fault === undefined) throw new Error(`There is no fault ${name}`)
  one.applyFault(SEND, fault, 2)
}

const BEHIND: Record<string, { env?: Record<string, string>; apply: (one: FaultCase) => void }> = {
  'a 429 with Retry-After': { apply: (one) => addSendFault(one, '429 with Retry-After') },
  'a 429 without Retry-After': { apply: (one) => addSendFault(one, '429 without Retry-After') },
  'a refused connection': { apply: (one) => addSendFault(one, 'refused') },
  'a failing DNS': { apply: (one) => addSendFault(one, 'DNS failure') },
  'a 503': { apply: (one) => addSendFault(one, '503') },
  "a firewall's page": { apply: (one) => addSendFault(one, '403 with HTML') },
  'a lost answer': { apply: (one) => addSendFault(one, 'reset after accept') },
  'a lost request': { apply: (one) => addSendFault(one, 'reset before read') },
  refresh_failed: { apply: ({ world }) => loseTokens(world.control) },
  'a full rate window': { env: { FROM_LIMIT_PER_MINUTE: '6' }, apply: () => undefined },
}

/** The access token is refused, and the first refreshes fail. */
function loseTokens(control: FaultCase['world']['control']): void {
  const extensionId = control.extensions()[0]?.extensionId ?? ''
  control.fault({ route: 'token', calls: 2, fault: { kind: 'respond', status: 500 } })
  control.expireTokens({ extensionId })
}

const openCase = (env: Record<string, string> = {}): Promise<FaultCase> => FaultCase.open({ env })

describe.each(Object.entries(BEHIND))('behind %s', (_name, { env, apply }) => {
  test('20 messages of one conversation are sent in the order of acceptance', async () => {
    await using one = await openCase(env)
    apply(one)
    const bodies = texts(MESSAGES)
    await sendEach(one.world, bodies)
    await untilSent(one, MESSAGES)
    expect(record(one.world)).toEqual(bodies)
  })

  test('calls for 20 contacts of one number begin in the order of acceptance', async () => {
    await using one = await openCase(env)
    const begun = watchCalls(one.world)
    apply(one)
    await sendEach(one.world, texts(MESSAGES), contact)
    await untilSent(one, MESSAGES)
    expect([...new Set(begun)]).toEqual(texts(MESSAGES))
    expect(record(one.world).toSorted()).toEqual(texts(MESSAGES).toSorted())
  })
})

test('a message that is retried is sent before messages that were accepted after it', async () => {
  await using one = await openCase({ FROM_LIMIT_PER_MINUTE: '4' })
  const begun = watchCalls(one.world)
  one.world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '20' } } })
  await sendEach(one.world, texts(8), contact)
  await untilSent(one, 8)
  // Up to three others begin before the refusal arrives, because the window allows four calls in a minute.
  const again = begun.lastIndexOf('part 1')
  expect(again).toBeGreaterThanOrEqual(1)
  expect(again).toBeLessThanOrEqual(4)
  expect(begun.toSpliced(again, 1)).toEqual(texts(8))
})
