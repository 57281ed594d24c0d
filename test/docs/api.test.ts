import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MessagesQuery } from '../../src/api/sms/messages-query.ts'
import { DeliveriesQuery } from '../../src/api/webhook-deliveries/schemas.ts'
import { PROJECT } from '../support/program.ts'
import { createWorld } from '../support/world.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/api.md'), 'utf8')

/** The names in the first column of the table with this heading. */
function namesOf(heading: string): string[] {
  const rows = PAGE.split(`| ${heading} |`)[1]?.split('\n\n')[0] ?? ''
  return [...rows.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  )
}

/** Those of every list stand in the text. */
const COMMON = ['page', 'limit']

test('the page has every filter of messages and of deliveries', () => {
  const own = (schema: { shape: object }): string[] =>
    Object.keys(schema.shape).filter((name) => !COMMON.includes(name))
  // `tenantId` can only be the caller's own.
  const ofMessages = own(MessagesQuery).filter((name) => name !== 'tenantId')
  expect(namesOf('Filter for messages').toSorted()).toEqual(ofMessages.toSorted())
  expect(namesOf('Filter for webhook deliveries').toSorted()).toEqual(own(DeliveriesQuery).toSorted())
  for (const name of COMMON) expect(PAGE).toContain(`\`${name}\``)
})

test('the examples of the page are answered as it says', async () => {
  await using world = await createWorld()
  await world.untilStatus(await world.send())
  const [me = '', list = ''] = [...PAGE.matchAll(/http:\/\/127\.0\.0\.1:3000(\/[^\s"]+)/g)].map(([, path]) => path)
  const shown = [...PAGE.matchAll(/^# (\{.+\})$/gm)].map(([, text = '']) => text)
  expect(Object.keys((await world.json('GET', me)).body)).toEqual(Object.keys(JSON.parse(shown[0] ?? '') as object))
  const { status, body } = await world.json('GET', list)
  expect([status, body]).toEqual([200, { messages: [], total: 0, page: 2, limit: 50 }])
  expect(shown[1]).toStartWith('{"messages":[…],"total":')
})

test('a balance looks as the page shows it, and a wrong key is found before a wrong body', async () => {
  await using world = await createWorld({ connect: false, work: false, env: { KEY_LIMIT_PER_MINUTE: '100' } })
  const [policy = '', balance = ''] = [...PAGE.matchAll(/^RateLimit(?:-Policy)?: (.+)$/gm)].map(([, value]) => value)
  const { headers } = await world.call('GET', '/v1/me')
  const withoutFigures = (text: string | null): string | undefined =>
    text?.replace(/[rt]=\d+/g, (pair) => pair.slice(0, 2))
  expect(headers.get('ratelimit-policy')).toBe(policy)
  expect(withoutFigures(headers.get('ratelimit'))).toBe(withoutFigures(balance))
  expect((await world.call('POST', '/v1/sms/send', { key: 'sgw_wrong', body: '{' })).status).toBe(401)
})
