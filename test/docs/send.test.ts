import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/core/config.ts'
import { errorText } from '../../src/core/errors.ts'
import { MESSAGE_FAILURES, rejected, unknownNumber } from '../../src/core/message-failure.ts'
import { PROJECT } from '../support/program.ts'
import { FROM, TO, createWorld } from '../support/world.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/send.md'), 'utf8')
const found = (pattern: RegExp): string => pattern.exec(PAGE)?.[1] ?? `not found: ${String(pattern)}`

test('the example of the page is accepted, its repetition is answered as described, and the message is listed as described', async () => {
  await using world = await createWorld()
  const [name = '', key = ''] = found(/-H "(Idempotency-Key: [^"]+)"/).split(': ')
  const send = (text: string): Promise<Response> =>
    world.call('POST', '/v1/sms/send', { body: JSON.parse(text) as object, headers: { [name]: key } })
  const example = found(/-d '(\{.+\})'/)
  const answers = [await send(example), await send(example)]
  expect(answers.map(({ status }) => status)).toEqual([202, 202])
  expect(answers.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
  const [first, second] = (await Promise.all(answers.map((answer) => answer.json()))) as { messageId: string }[]
  expect(second).toEqual(first)
  const other = await send(JSON.stringify({ ...(JSON.parse(example) as object), body: 'Another' }))
  expect([other.status, await other.json()]).toEqual([409, { error: errorText('idempotencyConflict') }])
  expect(PAGE).toContain(errorText('idempotencyConflict'))
  await world.untilStatus(first?.messageId ?? '', ['sent'])
  const list = found(/`GET (\/v1\/sms\/messages\?[^`]+)`/).replace('failed', 'sent')
  expect((await world.json('GET', list)).body).toMatchObject({ total: 1, messages: [{ messageId: first?.messageId }] })
})

test('a time without a zone is refused as the page says, and one with an offset is that time', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const [, withOffset = ''] = /"sendAt":"([^"]+)"/.exec(PAGE) ?? []
  const [, withoutZone = ''] = /A time without a zone is refused\*\*: `([^`]+)`/.exec(PAGE) ?? []
  const at = new Date(Date.now() + 86_400_000).toISOString()
  const send = (sendAt: string) =>
    world.json('POST', '/v1/sms/send', { body: { from: FROM, to: TO, body: 'Hello', sendAt } })
  for (const wrong of [withoutZone, at.replace('Z', ''), at.replace('Z', '123'), at.slice(0, 10)])
    expect(await send(wrong)).toMatchObject({ status: 400, body: { error: errorText('badSendAt') } })
  expect(PAGE).toContain(`400 \`${errorText('badSendAt')}\``)
  expect(withOffset).toEndWith('+01:00')
  expect((await send(at.replace('Z', '+01:00'))).status).toBe(202)
})

test('the page explains every error of a message', () => {
  for (const { text } of [...Object.values(MESSAGE_FAILURES), unknownNumber('…'), rejected('…', null)])
    expect(PAGE).toContain(`| \`${text}\` |`)
})

test('the minutes of a batch are those of the default limits', () => {
  const config = readConfig({ values: {}, readFile: () => '' })
  if (!config.ok) throw new Error(config.problems.join())
  const { keyLimitPerMinute, fromLimitPerMinute } = config.config
  const minutes = (texts: number, perMinute: number): string => String(Math.ceil(texts / perMinute) - 1)
  const said = /you submit 500 texts in (\d+) minutes, and the last text in each zone goes out at 9:0(\d)\./
    .exec(readFileSync(join(PROJECT, 'docs/recipes.md'), 'utf8'))
    ?.slice(1)
  expect(said).toEqual([minutes(500, keyLimitPerMinute), minutes(100, fromLimitPerMinute)])
})
