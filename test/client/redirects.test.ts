import { describe, expect, test } from 'bun:test'
import { Sgw } from '../../src/client/client.ts'
import { FROM, TO } from '../support/world.ts'
import { AnsweringServer, answer, errorOf } from './answers.ts'

// A redirect would hand a message to another host, or make a GET of a send, whose JSON then counts as success.

const MESSAGE = { to: TO, from: FROM, body: 'A secret' }
const OPERATIONS: [name: string, call: (sgw: Sgw) => Promise<unknown>][] = [
  ['send', (sgw) => sgw.sms.send(MESSAGE)],
  ['sendAndWait', (sgw) => sgw.sms.sendAndWait(MESSAGE)],
  ['me', (sgw) => sgw.me()],
  ['a page of a list', (sgw) => sgw.sms.list().page(1)],
  ['setPolicy', (sgw) => sgw.optOuts.setPolicy('block')],
  ['cancel', (sgw) => sgw.sms.cancel('msg_1')],
  ['request', (sgw) => sgw.request('POST', '/v1/operator/tenants', { body: {}, repeatable: true })],
  ['events', (sgw) => sgw.events()[Symbol.asyncIterator]().next()],
]

describe.each([301, 302, 303, 307, 308])('a redirect with %i', (status) => {
  test.each(OPERATIONS)('is not followed by %s, and made again by nobody', async (_name, call) => {
    using other = new AnsweringServer(answer(200, { messageId: 'msg_1', status: 'sent', token: 'wst_1' }))
    using server = new AnsweringServer(answer(status, {}, { Location: `${other.url}v1/path?secret=1` }))
    const error = await errorOf(call(server.client()))
    expect(error).toMatchObject({ status, name: 'SgwError' })
    expect(error.message).toBe(
      `${server.url.slice(0, -1)} redirects to ${other.url.slice(0, -1)}: set baseUrl to the gateway itself`,
    )
    expect([server.requests.length, other.requests.length]).toEqual([1, 0])
  })
})

test('a redirect while sendAndWait waits ends it', async () => {
  const redirect = answer(307, {}, { Location: 'https://elsewhere.example/' })
  using waiting = new AnsweringServer(answer(202, { messageId: 'msg_1' }), redirect)
  expect(await errorOf(waiting.client().sms.sendAndWait(MESSAGE))).toMatchObject({ status: 307 })
  expect(waiting.requests).toHaveLength(2)
})

test('a browser hides the status and the address of a redirect: 302 stands for it', async () => {
  let calls = 0
  // As a browser answers a request with `redirect: 'manual'`.
  const hidden = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' })
  const fetch = (_url: string, { redirect }: RequestInit) => {
    calls++
    expect(redirect).toBe('manual')
    return Promise.resolve(hidden)
  }
  const sgw = new Sgw({ baseUrl: 'https://sms.test', apiKey: 'sgw_key', fetch })
  const error = await errorOf(sgw.sms.send(MESSAGE))
  expect(error).toMatchObject({ status: 302, message: 'https://sms.test redirects: set baseUrl to the gateway itself' })
  expect(calls).toBe(1)
})

test('only an origin is repeated in the error', async () => {
  const origins: [location: string, said: string][] = [
    ['https://sms.example:8443/login?token=t#f', ' to https://sms.example:8443'],
    ['HTTPS://SMS.example', ' to HTTPS://SMS.example'],
    ['https://user:word@sms.example/', ''],
    ['https://user@sms.example/', ''],
    ['/login?token=t', ''],
    ['javascript:alert(1)', ''],
    ['https://sms.exa mple/', ''],
    ['', ''],
  ]
  for (const [location, said] of origins) {
    using server = new AnsweringServer(answer(302, { error: 'Moved' }, { Location: location }))
    const { message } = await errorOf(server.client().me())
    expect({ location, message }).toEqual({
      location,
      message: `${server.url.slice(0, -1)} redirects${said}: set baseUrl to the gateway itself`,
    })
  }
})
