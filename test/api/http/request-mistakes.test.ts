import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { expectError } from '../../support/expect-error.ts'
import { FROM, TO, type World, createWorld, recordedLog } from '../../support/world.ts'

const SECRET_TEXT = 'Zürich-4711'
const JSON_TEXT = JSON.stringify({ from: FROM, to: TO, body: SECRET_TEXT })
const UNQUOTED = JSON_TEXT.replaceAll('"', '')

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')
const utf16 = (text: string): Uint8Array => Buffer.from(text, 'utf16le')

const MISTAKES: [what: string, body: Uint8Array | string, headers: Record<string, string>, said: string][] = [
  ['a gzip body', gzipSync(JSON_TEXT), { 'content-encoding': 'gzip' }, 'it is compressed'],
  ['a gzip body without a header', gzipSync(JSON_TEXT), {}, 'it is compressed'],
  ['another compression', 'anything', { 'content-encoding': 'zstd' }, 'it is compressed'],
  ['Latin-1', latin1(JSON_TEXT), {}, 'it is not UTF-8'],
  ['UTF-16', utf16(JSON_TEXT), {}, 'it is UTF-16'],
  ['UTF-16 with a byte order mark', utf16(`\uFEFF${JSON_TEXT}`), {}, 'it is UTF-16'],
  ['UTF-16 with the high byte first', Buffer.from(utf16(JSON_TEXT)).swap16(), {}, 'it is UTF-16'],
  ['a form', `from=%2B15555550100&to=x&body=${SECRET_TEXT}`, {}, 'it is a form'],
  ['a multipart form', `--xyz\r\nContent-Disposition: form-data; name="to"\r\n\r\nx`, {}, 'it is a form'],
  ['a line break', JSON_TEXT.replace('-', '\n'), {}, 'a string in it has a raw line break'],
  ['a tab', JSON_TEXT.replace('-', '\t'), {}, 'a string in it has a raw line break'],
  ['single quotes around it', `'${JSON_TEXT}'`, {}, 'its double quotes'],
  ['the quotes of cmd.exe', `'${UNQUOTED}'`, {}, 'its double quotes'],
  ['the first word of cmd.exe', "'{from:", {}, 'its double quotes'],
  ['no quotes', UNQUOTED, {}, 'its double quotes'],
  ['single quotes', JSON_TEXT.replaceAll('"', "'"), {}, 'its double quotes'],
  ['deep nesting', '['.repeat(1000), {}, 'it is nested too deep'],
  ['half of it', JSON_TEXT.slice(0, 30), {}, 'check it with a JSON parser'],
  ['two values', `${JSON_TEXT}${JSON_TEXT}`, {}, 'check it with a JSON parser'],
]

const quiet = { connect: false, work: false } as const

const send = (
  { url, key }: World,
  body: Uint8Array | string,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${url}/v1/sms/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body,
  })

const told = (lines: string[]): string[] =>
  lines
    .map((line) => JSON.parse(line) as { level: string; msg: string })
    .filter(({ level, msg }) => level === 'warn' && /^(the body is|no key in)/.test(msg))
    .map(({ msg }) => msg)

test.each(MISTAKES)('outside production the log says what is wrong with a body: %s', async (_, body, headers, said) => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  await expectError(await send(world, body, headers), 400, 'Invalid JSON')
  expect(told(lines)).toEqual([expect.stringContaining(`the body is not JSON: ${said}`)])
  for (const hidden of [SECRET_TEXT, 'rich-4711', TO, world.key]) expect(lines.join('')).not.toContain(hidden)
})

test('long bodies with a mistake do not hold the event loop for seconds each', async () => {
  await using world = await createWorld(quiet)
  const body = `{"body":"${'\\"'.repeat(50_000)}\n"}`
  for (let time = 0; time < 8; time++) await expectError(await send(world, body), 400, 'Invalid JSON')
})

test('the line names the endpoint, and nothing of the path that the caller has made up', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  await expectError(await world.call('PUT', `/v1/apps/${TO}`, { body: '{' }), 400, 'Invalid JSON')
  expect(lines.join('')).toContain('"path":"/v1/apps/:appId"')
  expect(lines.join('')).not.toContain(TO)
})

test('the log says that JSON is no object where one is needed', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  await expectError(await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: '[1]' }), 400, 'Invalid JSON')
  expect(lines.join('')).toContain('the body is JSON, but not an object: begin it with {')
})

test.each([
  ['Basic c2d3X3NlY3JldDo=', 'it is HTTP Basic'],
  ['basic c2d3X3NlY3JldDo=', 'it is HTTP Basic'],
  ['sgw_secretsecret', 'the word Bearer is missing'],
  ['Bearer', 'no key comes after Bearer (is a variable empty?)'],
  ['bearer sgw_secretsecret', 'it does not begin with "Bearer sgw_"'],
  ['Bearer "sgw_secretsecret"', 'it does not begin with "Bearer sgw_"'],
  ['Token secretsecret', 'it does not begin with "Bearer sgw_"'],
  [null, 'there is none'],
])('outside production the log says what is wrong with the header Authorization: %s', async (header, said) => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  const headers: Record<string, string> = header === null ? {} : { authorization: header }
  const answer = await world.call('POST', '/v1/sms/send', { key: null, body: '{}', headers })
  await expectError(answer, 401, 'Missing or invalid API key')
  expect(told(lines)).toEqual([`no key in the header Authorization: ${said}; send "Authorization: Bearer sgw_…"`])
  for (const secret of ['secretsecret', 'c2d3X3']) expect(lines.join('')).not.toContain(secret)
})

test('in production the log says nothing of it', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({
    ...quiet,
    log,
    env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' },
  })
  const secure = { 'x-forwarded-proto': 'https' }
  await expectError(await send(world, UNQUOTED, secure), 400, 'Invalid JSON')
  await expectError(
    await send(world, UNQUOTED, { ...secure, authorization: 'Basic eDp5' }),
    401,
    'Missing or invalid API key',
  )
  expect(told(lines)).toEqual([])
})
