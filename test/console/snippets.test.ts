import { expect, test } from 'bun:test'
import { SendBody } from '../../src/api/sms/schemas.ts'
import { asCurl, asTypeScript } from '../../src/console/page/messages/snippets.ts'

const message = {
  from: '+15555550100',
  to: '+15555550199',
  body: "It's ready",
  userId: 'user-42',
  sendAt: '2026-11-30T17:00:00.000Z',
}
const row = { direction: 'outbound', messageId: 'msg_0123456789ab', ...message } as const

test('a copied call has every field of the send', () => {
  // Media has ids that last a day, so a copied call would not work for long.
  expect([...Object.keys(message), 'mediaIds'].toSorted()).toEqual(Object.keys(SendBody.shape).toSorted())
  const [, request = ''] = /-d '(.*)'$/.exec(asCurl(row, 'http://localhost:3000')) ?? []
  expect(JSON.parse(request.replaceAll(String.raw`'\''`, "'"))).toEqual(message)
  expect(asTypeScript(row, 'http://localhost:3000')).toContain(`sgw.sms.send(${JSON.stringify(message)})`)
})

test('a copied call has no field that the message has not', () => {
  const plain = { ...row, userId: null, sendAt: null }
  for (const call of [asCurl(plain, ''), asTypeScript(plain, '')]) expect(call).not.toMatch(/userId|sendAt|null/)
})
