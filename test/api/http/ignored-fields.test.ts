import { expect, test } from 'bun:test'
import { FROM, TO, createWorld, recordedLog } from '../../support/world.ts'

const message = { from: FROM, to: TO, body: 'Hello' }

test('near misses of known fields are ignored as ever, and named in a header and the log', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log })
  const ignored = async (method: string, path: string, body?: unknown): Promise<string | null> =>
    (await world.call(method, path, body === undefined ? {} : { body })).headers.get('x-ignored-fields')
  const at = '2026-12-24T18:00:00Z'
  expect(await ignored('POST', '/v1/sms/send', message)).toBeNull()
  expect(await ignored('POST', '/v1/sms/send', { ...message, colour: 'red', id: 1 })).toBeNull()
  for (const field of ['send_at', 'sendat', 'SendAt', 'scheduledAt', 'sendAtt'])
    expect(await ignored('POST', '/v1/sms/send', { ...message, [field]: at })).toBe(field)
  expect(await ignored('POST', '/v1/sms/send', { ...message, user_id: 'u', 'send-at': at })).toBe('user_id, send-at')
  expect(await ignored('POST', '/v1/sms/send', { From: FROM, to: TO, body: 'x' })).toBe('From')
  expect(await ignored('GET', '/v1/sms/messages?start_date=2026-01-01&status=sent')).toBe('start_date')
  expect(
    await ignored('POST', '/v1/sms/send', { ...message, 'send\r\nAt': at, [`sendAt${'x'.repeat(60)}`]: at }),
  ).toBeNull()
  const sent = await world.json<{ total: number }>('GET', '/v1/sms/messages')
  expect(sent.body.total).toBe(9)
  const warnings = lines.map((line) => JSON.parse(line) as { msg: string; field?: string }).filter(({ field }) => field)
  expect(warnings).toContainEqual(
    expect.objectContaining({ field: 'send_at', msg: 'a field was ignored: did you mean sendAt?' }),
  )
})

test('in production the header names them, and the log does not', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log, env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' } })
  const response = await world.call('POST', '/v1/sms/send', {
    headers: { 'x-forwarded-proto': 'https' },
    body: { ...message, send_at: 'x' },
  })
  expect(response.headers.get('x-ignored-fields')).toBe('send_at')
  expect(lines.join('')).not.toContain('send_at')
})

test('a body of thousands of unknown fields takes no longer than any other', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const many = Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`sendAt${index}`, 1]))
  const response = await world.call('POST', '/v1/sms/send', { body: { ...message, ...many } })
  expect(response.status).toBe(202)
  expect((response.headers.get('x-ignored-fields') ?? '').split(', ').length).toBeLessThanOrEqual(20)
})
