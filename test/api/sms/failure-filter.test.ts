import { expect, test } from 'bun:test'
import {
  FAILURE_CODES,
  MESSAGE_FAILURES,
  failureOf,
  isFailure,
  rejected,
  unknownNumber,
} from '../../../src/core/message-failure.ts'
import { expectError } from '../../support/expect-error.ts'
import { FROM_2, TO, type World, createWorld } from '../../support/world.ts'

interface List {
  messages: { messageId: string }[]
  total: number
}

async function list(world: World, query: string, key = world.key): Promise<string[]> {
  const { status, body } = await world.json<List>('GET', `/v1/sms/messages?${query}`, { key })
  expect([query, status, body.total]).toEqual([query, 200, body.messages.length])
  return body.messages.map(({ messageId }) => messageId)
}

/** A message that failed with this error. */
async function failed(
  world: World,
  error: string,
  code: string,
  message: object = {},
  key = world.key,
): Promise<string> {
  const id = await world.send(message, { key })
  await world.gateway.database.gate.execute({
    sql: `UPDATE messages SET status = 'failed', error = ?2, error_code = ?3 WHERE id = ?1`,
    args: [id, error, code],
  })
  return id
}

const BLOCKED = rejected('Blocked as spam', 'SMS-UP-430')
const OTHER_WORDS = rejected('The message looks like spam', 'SMS-UP-430')
const BAD_NUMBER = rejected('Parameter [to] is invalid (see the guide)', 'CMN-101')
const NO_CODE = rejected('Nobody knows why (see the guide)', null)

async function filled(world: World): Promise<Record<string, string>> {
  const ids: Record<string, string> = {}
  for (const { code, text } of Object.values(MESSAGE_FAILURES)) ids[code] = await failed(world, text, code)
  for (const [name, { code, text }] of Object.entries({ BLOCKED, OTHER_WORDS, BAD_NUMBER, NO_CODE }))
    ids[name] = await failed(world, text, code)
  ids['unknown_number'] = await failed(world, unknownNumber('+15555550177').text, 'unknown_number')
  return ids
}

test('each failure finds its messages, a refusal also by the provider’s code, with every other filter', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const ids = await filled(world)
  await world.send()
  for (const { code } of Object.values(MESSAGE_FAILURES))
    expect(await list(world, `failure=${code}`)).toEqual([ids[code] ?? ''])
  expect(await list(world, 'failure=unknown_number')).toEqual([ids['unknown_number'] ?? ''])
  expect(await list(world, 'failure=rejected')).toEqual(
    [ids['NO_CODE'], ids['BAD_NUMBER'], ids['OTHER_WORDS'], ids['BLOCKED']].map(String),
  )
  expect(await list(world, 'failure=rejected:SMS-UP-430')).toEqual([ids['OTHER_WORDS'], ids['BLOCKED']].map(String))
  expect(await list(world, 'failure=rejected:CMN-101')).toEqual([String(ids['BAD_NUMBER'])])
  for (const code of ['430', 'UP-430', 'sms-up-430', 'SMS_UP_430', 'guide'])
    expect(await list(world, `failure=rejected:${code}`)).toEqual([])
  const expired = [String(ids['expired'])]
  expect(await list(world, `failure=expired&state=failed&status=failed&to=${encodeURIComponent(TO)}`)).toEqual(expired)
  expect(await list(world, 'failure=expired&include=delivery&direction=outbound&contactEndsWith=0199')).toEqual(expired)
  for (const state of ['waiting', 'scheduled', 'cancelled', 'undelivered'])
    expect(await list(world, `failure=expired&state=${state}`)).toEqual([])
  expect(await list(world, 'failure=cancelled&state=cancelled')).toEqual([String(ids['cancelled'])])
  expect(await list(world, 'failure=cancelled&state=failed')).toEqual([])
  expect(await list(world, `failure=expired&from=${encodeURIComponent(FROM_2)}`)).toEqual([])
  expect(await list(world, 'failure=')).toHaveLength(Object.keys(ids).length + 1)
  expect(await list(world, 'failure=expired&failure=revoked')).toEqual([String(ids['revoked'])])
  const other = await world.otherTenant()
  expect(await list(world, 'failure=expired', other.apiKey)).toEqual([])
})

test.each([
  'Expired',
  'failed',
  'rejected:',
  'rejected:a b',
  'rejected:%',
  'expired:1',
  'expired,revoked',
  ' expired',
  '%00',
  "'",
  'constructor',
  `rejected:${'x'.repeat(65)}`,
  'x'.repeat(2000),
])('another failure is refused: %s', async (value) => {
  await using world = await createWorld({ connect: false, work: false })
  for (const path of ['messages', 'failures'])
    await expectError(
      await world.call('GET', `/v1/sms/${path}?failure=${encodeURIComponent(value)}`),
      400,
      'Invalid failure',
    )
  await list(world, `failure=${encodeURIComponent(value)}&failure=expired`)
})

test('the reasons are counted, with the error that all of one have, and by the filters of the list', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await filled(world)
  const reasons = async (query = '', key = world.key) =>
    (
      await world.json<{
        failures: { failure: string; error: string | null; count: number; firstAt: string; lastAt: string }[]
      }>('GET', `/v1/sms/failures${query}`, { key })
    ).body.failures
  const all = await reasons()
  expect(Object.fromEntries(all.map(({ failure, count }) => [failure, count]))).toEqual({
    ...Object.fromEntries(Object.values(MESSAGE_FAILURES).map(({ code }) => [code, 1])),
    unknown_number: 1,
    rejected: 1,
    'rejected:SMS-UP-430': 2,
    'rejected:CMN-101': 1,
  })
  expect(all[0]).toMatchObject({ failure: 'rejected:SMS-UP-430', error: null })
  expect(all.find(({ failure }) => failure === 'rejected:CMN-101')?.error).toBe(BAD_NUMBER.text)
  expect(all.find(({ failure }) => failure === 'unknown_number')?.error).toBe(unknownNumber('+15555550177').text)
  const second = await failed(world, unknownNumber('+15555550178').text, 'unknown_number', { userId: 'u2' })
  const [numbers] = (await reasons()).filter(({ failure }) => failure === 'unknown_number')
  const { createdAt } = (await world.status(second)) as { createdAt: string }
  expect(numbers).toMatchObject({ count: 2, error: null, lastAt: createdAt })
  expect(await reasons('?userId=u2')).toMatchObject([{ failure: 'unknown_number', count: 1, firstAt: createdAt }])
  expect(await reasons('?failure=rejected:CMN-101')).toMatchObject([{ failure: 'rejected:CMN-101', count: 1 }])
  expect(await reasons('?contactEndsWith=0198')).toEqual([])
  expect(await reasons('?endDate=2020-01-01')).toEqual([])
  expect(await reasons('', (await world.otherTenant()).apiKey)).toEqual([])
})

test('what the overview names as failure is what the filter takes', async () => {
  await using world = await createWorld()
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 400 } })
  await world.untilStatus(await world.send(), ['failed'])
  await world.untilStatus(await world.send({ from: '+15555550777' }), ['failed'])
  const { body } = await world.json<{ errors: { error: string; failure: string; count: number }[] }>(
    'GET',
    '/v1/overview',
  )
  expect(body.errors).toHaveLength(2)
  expect(body.errors.map(({ failure }) => failure)).toContain('unknown_number')
  for (const { failure, count } of body.errors) expect(await list(world, `failure=${failure}`)).toHaveLength(count)
})

test('each stored error is one failure, however the provider words it', () => {
  for (const { code, text } of Object.values(MESSAGE_FAILURES)) expect(failureOf(text)).toBe(code)
  expect(failureOf(unknownNumber('+1').text)).toBe('unknown_number')
  expect(failureOf(BLOCKED.text)).toBe('rejected:SMS-UP-430')
  expect(failureOf(rejected('Two\nlines', 'A-1').text)).toBe('rejected:A-1')
  // Cut at 500 characters: nobody knows the code any more.
  expect(failureOf(rejected('x'.repeat(600), 'A-1').text)).toBe('rejected')
  expect(failureOf('Rejected')).toBe('rejected')
  for (const code of FAILURE_CODES) expect(isFailure(code)).toBe(true)
})
