import { expect, spyOn, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { expectError } from '../../support/expect-error.ts'
import { firstMessage } from '../../support/socket.ts'
import { FROM, TO, type World, createWorld, recordedLog } from '../../support/world.ts'

const SECRET_TEXT = 'Zürich-4711'
const JSON_TEXT = JSON.stringify({ from: FROM, to: TO, body: SECRET_TEXT })
const UNQUOTED = JSON_TEXT.replaceAll('"', '')

const manyMembers = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"${n}":1`).join(',')}}`

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
  ['deep nesting', '['.repeat(1000), {}, 'it is nested too deeply'],
  ['thousands of members', manyMembers(4001), {}, 'it has more than 4,000 members'],
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

test.each([
  ['that is refused for its type', 'POST', '/v1/triggers', '{"callbackUrl":7'],
  ['that lacks a field', 'POST', '/v1/apps/register', '{"x":1'],
  ['that is no object', 'PUT', '/v1/opt-outs', '[{"x":1'],
  ['that is no JSON', 'PUT', '/v1/opt-outs', '{"x":1]'],
  ['of any JSON', 'POST', `/v1/sms/notify?from=x&to=y`, '{"text":7'],
])('outside production, too, a body %s is parsed once', async (_, method, path, start) => {
  await using world = await createWorld(quiet)
  const names = Array.from({ length: 1000 }, (__, n) => `,"name${n}":1`).join('')
  const body = `${start}${names}}${start.startsWith('[') ? ']' : ''}`
  const parse = spyOn(JSON, 'parse')
  try {
    expect((await world.call(method, path, { body })).status).toBe(400)
    expect(parse.mock.calls.filter(([text]) => text === body)).toHaveLength(1)
  } finally {
    parse.mockRestore()
  }
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
  ['Bearer', 'there is no key after Bearer (is a variable empty?)'],
  ['bearer sgw_secretsecret', 'it does not begin with "Bearer sgw_"'],
  ['Bearer "sgw_secretsecret"', 'it does not begin with "Bearer sgw_"'],
  ['Token secretsecret', 'it does not begin with "Bearer sgw_"'],
  ['Bearer whsec_secretsecret', 'it is the secret of a webhook, which signs deliveries and is not a key'],
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

const SECURE = { 'x-forwarded-proto': 'https' }

const shortKeys = (lines: string[]): string[] =>
  lines
    .map((line) => (JSON.parse(line) as { msg: string }).msg)
    .filter((msg) => msg.startsWith('a key is refused because it is incomplete'))

test.each(['test', 'production'])(
  'in %s the log says that only the beginning of a key was sent, and the answer says no more than of any',
  async (mode) => {
    const { log, lines } = recordedLog()
    await using world = await createWorld({ ...quiet, log, env: { NODE_ENV: mode, TRUSTED_PROXIES: '127.0.0.1' } })
    const { body } = await world.json<{ apps: { apiKeyPrefix: string }[] }>('GET', '/v1/apps', { headers: SECURE })
    const prefix = body.apps[0]?.apiKeyPrefix ?? ''
    expect(prefix).toHaveLength(12)
    const whole = `sgw_${'x'.repeat(43)}`
    for (const key of [prefix, `${prefix}...`, `${prefix}${Buffer.from('…').toString('latin1')}`, 'sgw_', whole])
      await expectError(await world.call('GET', '/v1/apps', { key, headers: SECURE }), 401, 'Invalid API key')
    const { messages } = await firstMessage(world.url, { type: 'auth', apiKey: prefix }, SECURE)
    expect(messages).toEqual([{ type: 'auth_error', error: 'Invalid API key' }])
    const said = (length: number): string =>
      `a key is refused because it is incomplete: it has ${length} of 47 characters (lists show only how a key begins); send the whole key; if nobody has it, sgw app rotate-key APP makes a new one`
    expect(shortKeys(lines)).toEqual([12, 15, 15, 4, 12].map(said))
    for (const hidden of [prefix, whole]) expect(lines.join('')).not.toContain(hidden)
  },
)

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

test('outside production the log says which field has which type, and nothing of its value', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  const { appId, tenantId } = world.app
  const message = { from: FROM, to: TO, body: SECRET_TEXT }
  const required = 'to, from, and body are required'
  const cases: [method: string, path: string, body: unknown, error: string, said: string[]][] = [
    ['POST', '/v1/sms/send', { ...message, to: 15_555_550_199 }, required, ['to is a number: send a string']],
    ['POST', '/v1/sms/send', { ...message, to: [TO] }, required, ['to is a list: send a string']],
    [
      'POST',
      '/v1/sms/send',
      { to: { phoneNumber: TO }, from: true, body: null },
      required,
      ['to is an object: send a string', 'from is true or false: send a string', 'body is null: send a string'],
    ],
    ['POST', '/v1/sms/send', { from: FROM, to: TO }, required, ['body is missing: send a string']],
    ['POST', '/v1/sms/send', [message], required, ['the body is a list: send an object']],
    [
      'POST',
      '/v1/sms/send',
      { ...message, userId: 4711 },
      'userId must be a string of at most 255 characters',
      ['userId is a number: send a string'],
    ],
    ['POST', '/v1/sms/preview', { body: 7 }, 'body must be 1-1600 characters', ['body is a number: send a string']],
    [
      'POST',
      '/v1/apps/register',
      { name: [SECRET_TEXT], tenantId },
      'name must be 1-100 characters',
      ['name is a list: send a string'],
    ],
    [
      'PUT',
      `/v1/apps/${appId}`,
      { isActive: 'no' },
      'isActive must be a boolean',
      ['isActive is a string: send true or false'],
    ],
  ]
  for (const [method, path, body, error, said] of cases) {
    lines.length = 0
    await expectError(await world.call(method, path, { body }), 400, error)
    const warnings = lines.map((line) => JSON.parse(line) as { level: string; msg: string }).filter(isWarning)
    expect(warnings.map(({ msg }) => msg)).toEqual(said)
    for (const hidden of [SECRET_TEXT, TO, FROM, '4711', '15555550199']) expect(lines.join('')).not.toContain(hidden)
  }
})

const isWarning = ({ level }: { level: string }): boolean => level === 'warn'

test('in production the log says nothing of types', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({
    ...quiet,
    log,
    env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' },
  })
  const headers = { 'x-forwarded-proto': 'https' }
  const answer = await world.call('POST', '/v1/sms/send', { headers, body: { from: FROM, to: 1, body: 'x' } })
  await expectError(answer, 400, 'to, from, and body are required')
  expect(lines.join('')).not.toContain('is a number')
})
