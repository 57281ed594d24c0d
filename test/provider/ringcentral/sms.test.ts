import { describe, expect, test } from 'bun:test'
import { ACCESS_TOKEN, clientOf, httpServer, valueOf } from './servers.ts'

const SMS = { from: '+16505550101', to: '+16505550123', text: 'Grüße, "Alice" \\ 😀\n' }

test('one SMS is one POST with the text unchanged', async () => {
  using server = httpServer(() => Response.json({ id: 3062991514016, messageStatus: 'Queued', conversationId: 1 }))
  const accepted = valueOf(await clientOf(server.url).sendSms(ACCESS_TOKEN, SMS))
  expect(accepted).toEqual({ providerMessageId: '3062991514016', failed: false, ownerId: null })
  expect(server.requests).toHaveLength(1)
  const [seen] = server.requests
  expect(seen).toMatchObject({ method: 'POST', path: '/restapi/v1.0/account/~/extension/~/sms' })
  expect(seen?.headers.get('authorization')).toBe(`Bearer ${ACCESS_TOKEN}`)
  expect(seen?.headers.get('content-type')).toBe('application/json')
  expect(JSON.parse(seen?.body ?? '')).toEqual({
    from: { phoneNumber: SMS.from },
    to: [{ phoneNumber: SMS.to }],
    text: SMS.text,
  })
})

test('the id may be text', async () => {
  using server = httpServer(() => Response.json({ id: '3062991514016' }))
  expect(valueOf(await clientOf(server.url).sendSms(ACCESS_TOKEN, SMS))).toEqual({
    providerMessageId: '3062991514016',
    failed: false,
    ownerId: null,
  })
})

test.each([
  [{ extensionId: '62498880016', extensionType: 'Department', name: 'Sales' }, '62498880016'],
  [{ extensionId: 62498880016 }, '62498880016'],
  [{ name: 'Sales' }, null],
  [null, null],
  ['Sales', null],
])('the owner %j of an answer is read as %p', async (owner, ownerId) => {
  using server = httpServer(() => Response.json({ id: 3062991514016, owner }))
  expect(valueOf(await clientOf(server.url).sendSms(ACCESS_TOKEN, SMS)).ownerId).toBe(ownerId)
})

describe('the status of an answer may be a failure', () => {
  const rows: [unknown, boolean][] = [
    ['SendingFailed', true],
    ['DeliveryFailed', true],
    ['Sent', false],
    ['Delivered', false],
    [undefined, false],
    [7, false],
  ]
  test.each(rows)('%p: %p', async (messageStatus, failed) => {
    using server = httpServer(() => Response.json({ id: 1, messageStatus }, { status: 201 }))
    expect(valueOf(await clientOf(server.url).sendSms(ACCESS_TOKEN, SMS)).failed).toBe(failed)
  })
})
