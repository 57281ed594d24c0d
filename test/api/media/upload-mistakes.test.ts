import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expectError } from '../../support/expect-error.ts'
import { PNG, pngOf, upload } from '../../support/media.ts'
import { PROJECT } from '../../support/program.ts'
import { exchange, parseAnswers } from '../../support/raw-http.ts'
import { type World, createWorld, recordedLog } from '../../support/world.ts'

const SEND_PAGE = readFileSync(join(PROJECT, 'docs/send.md'), 'utf8')
const FORM = `--xyz\r\nContent-Disposition: form-data; name="file"\r\n\r\n${PNG.toString('latin1')}\r\n--xyz--`

const MISTAKES: [what: string, body: Uint8Array | string, type: string, said: string][] = [
  ['a multipart form', FORM, 'multipart/form-data; boundary=xyz', 'the body is a form'],
  ['curl without a type', PNG, 'application/x-www-form-urlencoded', 'its Content-Type is that of a form'],
  ['any bytes', PNG, 'application/octet-stream', 'its Content-Type says nothing about it'],
  ['JSON', '{"file":"iVBORw0KGgo="}', 'Application/JSON; charset=utf-8', 'its Content-Type says that it is JSON'],
  ['a misspelt type', PNG, 'image/jpg', 'files of its Content-Type cannot be sent'],
  ['a drawing', '<svg/>', 'image/svg+xml', 'files of its Content-Type cannot be sent'],
  ['an empty type', PNG, '', 'it has no Content-Type'],
  ['a PNG as JPEG', PNG, 'image/jpeg', 'its Content-Type is image/jpeg, but its bytes are those of something else'],
  [
    'a PNG without its line breaks',
    PNG.filter((byte) => byte !== 10 && byte !== 13),
    'image/png',
    'its Content-Type is image/png, but its bytes are those of something else',
  ],
  ['a form as a PNG', FORM, 'image/png', 'its Content-Type is image/png, but its bytes are those of something else'],
]

const quiet = { connect: false, work: false } as const

const warnings = (lines: string[]): { path?: string; msg: string }[] =>
  lines
    .map((line) => JSON.parse(line) as { level: string; path?: string; msg: string })
    .filter(({ level, msg }) => level === 'warn' && msg.startsWith('the file is'))

const expectTold = (lines: string[], said: string): void =>
  expect(warnings(lines)).toMatchObject([
    { path: '/v1/sms/media', msg: expect.stringContaining(`the file is refused: ${said}`) as unknown },
  ])

test.each(MISTAKES)('outside production the log says why a file is refused: %s', async (_, body, type, said) => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  await expectError(await upload(world, body, { type, name: 'secret.png' }), 415, 'Unsupported media type')
  expectTold(lines, said)
  for (const hidden of ['secret.png', 'iVBORw0', 'xyz', world.key]) expect(lines.join('')).not.toContain(hidden)
  expect(SEND_PAGE).toContain(`| ${said.replace('image/png, but', 'image/jpeg, but')}`)
})

test('a file without a Content-Type is told so', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  const head = ['POST /v1/sms/media HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${world.key}`]
  const answer = await exchange(world.url, [...head, 'Content-Length: 3', 'Connection: close', '', 'abc'].join('\r\n'))
  expect(parseAnswers(answer)[0]).toMatchObject({ status: 415, body: '{"error":"Unsupported media type"}' })
  expectTold(lines, 'it has no Content-Type')
})

test('nothing is said of a file that is stored or refused for another reason, nor in production', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  expect((await upload(world, PNG)).status).toBe(201)
  await expectError(await upload(world, ''), 400, 'Media is empty')
  expect(warnings(lines)).toEqual([])
  const production = await productionAnswer()
  expect([production.status, warnings(production.lines)]).toEqual([415, []])
})

async function productionAnswer(): Promise<{ status: number; lines: string[] }> {
  const { log, lines } = recordedLog()
  await using world: World = await createWorld({
    ...quiet,
    log,
    env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' },
  })
  const headers = { 'content-type': 'image/jpg', 'x-forwarded-proto': 'https' }
  const { status } = await world.call('POST', '/v1/sms/media', { body: 'picture', headers })
  return { status, lines }
}

test('outside production the log has the size of a file that is too large, and the limit', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  await expectError(await upload(world, pngOf(2_400_000)), 413, 'Payload too large')
  const chunked = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(pngOf(1_500_001))
      controller.close()
    },
  })
  await expectError(await upload(world, chunked), 413, 'Payload too large')
  const limit = 'and a file may have 1,500,000 bytes; make it smaller (docs/send.md)'
  expect(warnings(lines).map(({ msg }) => msg)).toEqual([
    `the file is refused: it has 2,400,000 bytes, ${limit}`,
    `the file is refused: it has more than 1,500,000 bytes, ${limit}`,
  ])
})
