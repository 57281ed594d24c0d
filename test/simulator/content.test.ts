import { expect, test } from 'bun:test'
import { ALICE, answer, codes, SELF, startHarness } from './harness.ts'

/** A picture of ten bytes, and its address. */
async function startPicture() {
  const harness = await startHarness()
  const { access_token } = await harness.login()
  const attachments = [{ contentType: 'image/png', data: btoa('0123456789') }]
  const { messageId } = await harness.control.injectSms({ to: ALICE, attachments })
  const { body } = await harness.api(access_token, 'GET', `${SELF}/message-store/${messageId}`)
  const uri = (body['attachments'] as { type: string; uri: string }[]).find(({ type }) => type === 'MmsAttachment')?.uri
  const read = (range: string) =>
    fetch(uri ?? '', { headers: { authorization: `Bearer ${access_token}`, ...(range === '' ? {} : { range }) } })
  return { uri: uri ?? '', access_token, read, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() }
}

test.each([
  ['', 200, null, '0123456789'],
  ['bytes=0-2', 206, 'bytes 0-2/10', '012'],
  ['bytes=7-', 206, 'bytes 7-9/10', '789'],
  ['bytes=-3', 206, 'bytes 7-9/10', '789'],
  ['bytes=4-99', 206, 'bytes 4-9/10', '456789'],
  ['lines=1-2', 200, null, '0123456789'],
])('the range %p of an attachment is answered with %p', async (range, status, contentRange, text) => {
  await using picture = await startPicture()
  const response = await picture.read(range)
  expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual([
    status,
    contentRange,
    text,
  ])
})

test('a range behind the end is 416', async () => {
  await using picture = await startPicture()
  const refused = await answer(picture.read('bytes=10-'))
  expect([...codes(refused), refused.headers.get('content-range')]).toEqual([416, 'CMN-107', 'bytes */10'])
})

test('media, and nothing else, may be asked with the token in the query', async () => {
  await using picture = await startPicture()
  const query = `access_token=${picture.access_token}`
  expect(await (await fetch(`${picture.uri}?${query}`)).text()).toBe('0123456789')
  expect((await fetch(`${picture.uri}?access_token=nonsense`)).status).toBe(401)
  expect((await fetch(picture.uri)).status).toBe(401)
  expect((await fetch(`${new URL(picture.uri).origin}/restapi/v1.0${SELF}?${query}`)).status).toBe(401)
})
