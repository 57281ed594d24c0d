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

test('fields that other APIs have are named on every endpoint with a body, with what was probably meant', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log, connect: false, work: false })
  const { appId, tenantId } = world.app
  const trigger = await world.json<{ triggerId: string }>('POST', '/v1/triggers', {
    body: { callbackUrl: 'https://a.example/' },
  })
  const none = null
  const cases: [method: string, path: string, body: object, ignored: Record<string, string | null>][] = [
    [
      'POST',
      '/v1/sms/send',
      message,
      {
        mediaUrl: none,
        media_url: none,
        MediaUrl: none,
        media: none,
        attachments: none,
        text: 'body',
        message: 'body',
        content: 'body',
        recipients: 'to',
        phoneNumber: 'to',
        'phone-numbers': 'to',
        sender: 'from',
        originator: 'from',
        callbackUrl: none,
        webhookUrl: none,
        status_callback: none,
        StatusCallback: none,
        schedule: 'sendAt',
        reference: 'userId',
        idempotencyKey: none,
      },
    ],
    ['POST', '/v1/sms/preview', { body: 'x' }, { text: 'body', message: 'body', to: none, mediaUrl: none }],
    [
      'POST',
      '/v1/apps/register',
      { name: 'x', tenantId },
      { callbackUrl: 'webhookUrl', url: 'webhookUrl', policy: none },
    ],
    ['PUT', `/v1/apps/${appId}`, {}, { name: none, role: none, callback: 'webhookUrl', active: 'isActive' }],
    ['PUT', `/v1/apps/${appId}/webhook-events`, { events: [] }, { topics: 'events', webhookUrl: none }],
    ['PUT', `/v1/apps/${appId}/webhook-retries`, { policy: 'none' }, { retries: 'policy' }],
    ['PUT', `/v1/triggers/${trigger.body.triggerId}/webhook-retries`, { policy: 'none' }, { mode: 'policy' }],
    ['POST', '/v1/triggers', { callbackUrl: 'https://a.example/' }, { webhookUrl: 'callbackUrl', url: 'callbackUrl' }],
    ['POST', '/v1/webhook-deliveries/recover', { since: '2026-01-01' }, { end: 'until', endDate: 'until' }],
    ['PUT', '/v1/opt-outs', { number: FROM, contact: TO, optedOut: true }, { phone: 'contact', sender: 'number' }],
    ['PUT', '/v1/opt-outs/policy', { policy: 'block' }, { mode: 'policy' }],
  ]
  for (const [method, path, body, ignored] of cases)
    for (const [field, meant] of Object.entries(ignored)) {
      lines.length = 0
      const answer = await world.call(method, path, { body: { ...body, [field]: 'canary' } })
      expect([path, field, answer.ok, answer.headers.get('x-ignored-fields')]).toEqual([path, field, true, field])
      const hint = meant === null ? 'this endpoint has no such field' : `did you mean ${meant}?`
      expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain(`a field was ignored: ${hint}`)
      expect(lines.join('')).not.toContain('canary')
    }
})

test('what is refused names them, too; what has nothing in it, and what a tool posts to notify, is not named', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const ignored = async (path: string, body: object): Promise<[number, string | null]> => {
    const answer = await world.call('POST', path, { body })
    return [answer.status, answer.headers.get('x-ignored-fields')]
  }
  expect(await ignored('/v1/sms/send', { from: FROM, to: TO, text: 'Hello' })).toEqual([400, 'text'])
  expect(await ignored('/v1/sms/send', { sender: FROM, recipients: [TO], message: 'Hello' })).toEqual([
    400,
    'sender, recipients, message',
  ])
  // As Apprise posts it.
  const apprise = { version: '1.0', title: 'Disk', attachments: [], type: 'info', media: null, text: '' }
  expect(await ignored('/v1/sms/send', { ...message, ...apprise })).toEqual([202, null])
  const notify = `/v1/sms/notify?${new URLSearchParams({ from: FROM, to: TO })}`
  expect(await ignored(notify, { text: 'Hello', recipients: [TO], mediaUrl: 'x' })).toEqual([202, null])
  expect(await ignored(`${notify}&message=x`, { text: 'Hello' })).toEqual([202, 'message'])
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
  const many = Object.fromEntries(Array.from({ length: 3900 }, (_, index) => [`sendAt${index}`, 1]))
  const response = await world.call('POST', '/v1/sms/send', { body: { ...message, ...many } })
  expect(response.status).toBe(202)
  expect((response.headers.get('x-ignored-fields') ?? '').split(', ').length).toBeLessThanOrEqual(20)
})
