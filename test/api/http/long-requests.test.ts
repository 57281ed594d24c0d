import { expect, test } from 'bun:test'
import { z } from 'zod'
import { withoutLongArrays } from '../../../src/api/http/body.ts'
import { createWorld } from '../../support/world.ts'

test('of a form only the first hundred fields are read', async () => {
  await using world = await createWorld({ connect: false })
  const post = async (before: number): Promise<string> => {
    const { body } = await world.json<{ connectUrl: string }>('POST', '/v1/rc/connect-token')
    const token = body.connectUrl.split('token=')[1] ?? ''
    const form = `${'a=1&'.repeat(before)}token=${token}`
    const answer = await world.call('POST', '/v1/rc/connect', { key: null, body: form })
    return `${answer.status} ${/Missing token/.exec(await answer.text())?.[0] ?? ''}`
  }
  expect(await post(0)).toBe('303 ')
  expect(await post(99)).toBe('303 ')
  expect(await post(100)).toBe('400 Missing token')
})

test('the names and entries of a body are not listed, and its fields not copied: one with thousands takes no longer than its parsing', () => {
  const listed: string[] = []
  const watched = <T extends object>(name: string, value: T): T =>
    new Proxy(value, { ownKeys: (target) => (listed.push(name), Reflect.ownKeys(target)) })
  const schema = z.object({ to: z.string(), list: z.array(z.int()), short: z.array(z.int()), none: z.null() })
  const list = watched(
    'list',
    Array.from({ length: 50_000 }, () => 1),
  )
  expect(withoutLongArrays(list, schema)).toBe(list)
  const numbers = Array.from({ length: 50_000 }, (_, at) => at)
  const body = { to: 'a', list: numbers, short: [1], none: null }
  const withNames = watched('body', body)
  expect(withoutLongArrays(withNames, schema)).toBe(withNames)
  expect(listed).toEqual([])
  expect(body).toEqual({ to: 'a', list: numbers.slice(0, 101), short: [1], none: null })
})
