import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { type World, createWorld } from '../../support/world.ts'

interface List {
  messages: Record<string, unknown>[]
  total: number
  page: number
  limit: number
}

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })

async function list(world: World, query: string): Promise<List> {
  const response = await world.json<List>('GET', `/v1/sms/messages${query}`)
  expect(response.status).toBe(200)
  return response.body
}

const bodies = ({ messages }: List): unknown[] => messages.map((message) => message['body'])

test('a range of dates includes both ends, to the millisecond', async () => {
  const clock = manualClock(Date.parse('2026-11-21T12:00:00.500Z'))
  await using world = await createWorld({ connect: false, work: false, clock })
  await world.send()
  const total = async (query: string): Promise<number> => (await list(world, `?${query}`)).total
  expect(await total('startDate=2026-11-21T12:00:00.500Z')).toBe(1)
  expect(await total('startDate=2026-11-21T12:00:00.501Z')).toBe(0)
  expect(await total('endDate=2026-11-21T12:00:00.500Z')).toBe(1)
  expect(await total('endDate=2026-11-21T12:00:00.499Z')).toBe(0)
  expect(await total('startDate=2026-11-21T13:00:00.500%2B01:00&endDate=2026-11-21T07:00:00.500-05:00')).toBe(1)
  expect(await total('startDate=2026-11-21T13:00:00.500+01:00')).toBe(1)
  expect(await total('startDate=2026-11-21T13:00:00.501+01:00')).toBe(0)
  expect(await total('endDate=2026-11-21T13:00:00.500+0100')).toBe(1)
  expect(await total('startDate=2026-11-21t12:00z')).toBe(1)
  expect(await total('startDate=2026-11-21T12:00:00.5001234Z')).toBe(1)
  expect(await total('startDate=0001-01-01&endDate=9999-12-31')).toBe(1)
  expect(await total('startDate=2026-11-22&endDate=2026-11-20')).toBe(0)
})

test('a date without a time means the complete UTC day', async () => {
  const clock = manualClock(Date.parse('2026-11-21T00:00:00.000Z'))
  await using world = await createWorld({ connect: false, work: false, clock })
  await world.send({ body: 'first' })
  clock.advance(86_399_999)
  await world.send({ body: 'last' })
  clock.advance(1)
  await world.send({ body: 'next day' })
  expect(bodies(await list(world, '?startDate=2026-11-21&endDate=2026-11-21'))).toEqual(['last', 'first'])
  expect(bodies(await list(world, '?endDate=2026-11-20'))).toEqual([])
  expect(bodies(await list(world, '?startDate=2026-11-22'))).toEqual(['next day'])
})

test('a value that is not an ISO 8601 date with an offset is refused', async () => {
  await using world = await quiet()
  const bad = [
    'yesterday',
    '2026',
    '2026-11',
    '20261121',
    '2026-13-01',
    '2026-02-30',
    '2025-02-29',
    '2026-00-10',
    '2026-11-21T12:00:00',
    '2026-11-21 12:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T12:60:00Z',
    '2026-11-21T12:00:00%2B25:00',
    '1763683200000',
    '2026-11-21T12:00:00.Z',
    '%2B002026-11-21',
    '2026-11-21Z',
  ]
  for (const value of bad) {
    await expectError(await world.call('GET', `/v1/sms/messages?startDate=${value}`), 400, 'Invalid startDate')
    await expectError(await world.call('GET', `/v1/sms/messages?endDate=${value}`), 400, 'Invalid endDate')
  }
  await list(world, '?startDate=2024-02-29')
})
