import { describe, expect, test } from 'bun:test'
import type { Attachment, AttachmentContent, ProviderResult } from '../../../src/provider/provider.ts'
import { readAttachments } from '../../../src/provider/ringcentral/attachment-records.ts'
import { ownAddress } from '../../../src/provider/ringcentral/attachments.ts'
import { fakeTimers } from '../../support/fake-timers.ts'
import { until } from '../../support/world.ts'
import { ACCESS_TOKEN, clientOf, failureOf, httpServer, rawServer, valueOf } from './servers.ts'

const PATH = '/restapi/v1.0/account/809640016/extension/629890016/message-store/3062991599016/content/3062991599017'
const MIB = 1024 * 1024
const attachmentAt = (uri: string | null): Attachment => ({
  attachmentId: '3062991599017',
  contentType: 'image/jpeg',
  size: null,
  fileName: null,
  uri,
})

const read = (
  serverUrl: string,
  uri: string | null = serverUrl + PATH,
  throughProxy = false,
): Promise<ProviderResult<AttachmentContent>> =>
  clientOf(serverUrl, { throughProxy }).readAttachment(ACCESS_TOKEN, attachmentAt(uri))

const bytesOf = async ({ bytes }: AttachmentContent): Promise<number> =>
  (await new Response(bytes).arrayBuffer()).byteLength

describe('the address that a record names', () => {
  const PLATFORM = 'https://platform.ringcentral.com'
  const own = (uri: string, server = PLATFORM): string | undefined => ownAddress(uri, server)?.href

  test('is dialled at the provider’s own origin and at RingCentral’s host for media, without query and fragment', () => {
    expect(own(PLATFORM + PATH)).toBe(PLATFORM + PATH)
    expect(own(`https://media.ringcentral.com${PATH}?access_token=x#y`)).toBe(`https://media.ringcentral.com${PATH}`)
    expect(own(`HTTPS://MEDIA.RINGCENTRAL.COM:443${PATH}`)).toBe(`https://media.ringcentral.com${PATH}`)
    const partner = 'https://platform.ringcentral.biz'
    expect(own(partner + PATH, `${partner}/base`)).toBe(partner + PATH)
    expect(own(`https://media.ringcentral.biz${PATH}`, partner)).toBe(`https://media.ringcentral.biz${PATH}`)
  })

  test.each([
    `https://evil.example${PATH}`,
    `http://platform.ringcentral.com${PATH}`,
    `http://media.ringcentral.com${PATH}`,
    `https://media.ringcentral.com.evil.example${PATH}`,
    `https://media.ringcentral.com.${PATH}`,
    `https://media.ringcentral.com:8443${PATH}`,
    `https://media.ringcentral.com@evil.example${PATH}`,
    `https://user:pass@media.ringcentral.com${PATH}`,
    `https://evil.example\\@media.ringcentral.com${PATH}`,
    `https://media.ringcentral.com/restapi/v1.0/account/1/extension/2/sms`,
    `https://media.ringcentral.com/restapi/oauth/revoke`,
    `https://media.ringcentral.com/restapi/v1.0/account/1/content/../../../../oauth/revoke`,
    `https://media.ringcentral.com/restapi/v1.0/account/1/%2e%2e/content/3`,
    `https://media.ringcentral.com/x${PATH}`,
    `https://media.ringcentral.com${PATH}/more`,
    `https://127.0.0.1${PATH}`,
    'file:///etc/passwd',
    `//media.ringcentral.com${PATH}`,
    `javascript:alert(1)`,
    PATH,
    '',
    'https://media.ringcentral.com\r\nX: y',
  ])('is not dialled if it is %p', (uri) => {
    expect(own(uri)).toBeUndefined()
  })

  test('of RingCentral’s media is not dialled for another provider, such as a simulator', () => {
    expect(own(`https://media.ringcentral.com${PATH}`, 'http://127.0.0.1:4000')).toBeUndefined()
    expect(own(`https://media.ringcentral.com${PATH}`, 'https://platform.ringcentral.biz')).toBeUndefined()
    expect(own(`https://media.ringcentral.biz${PATH}`)).toBeUndefined()
    expect(own(`http://media.ringcentral.biz${PATH}`, 'https://platform.ringcentral.biz')).toBeUndefined()
    expect(own(`https://media.ringcentral.biz${PATH}`, 'https://platform.ringcentral.biz.evil.example')).toBeUndefined()
  })

  test('gets no request and no token if it is another server', async () => {
    using server = httpServer(() => new Response('ours'))
    await using evil = await rawServer(() => undefined)
    for (const uri of [evil.url + PATH, evil.url.replace('127.0.0.1', 'localhost') + PATH, null])
      expect(failureOf(await read(server.url, uri))).toMatchObject({ reason: 'rejected', status: null })
    expect([server.requests.length, evil.connections]).toEqual([0, 0])
  })

  test('gets no request and no token by a redirect', async () => {
    await using evil = await rawServer(() => undefined)
    for (const status of [301, 302, 303, 307, 308]) {
      using server = httpServer(() => new Response(null, { status, headers: { location: evil.url + PATH } }))
      expect(failureOf(await read(server.url))).toMatchObject({ reason: 'intercepted', status })
    }
    expect(evil.connections).toBe(0)
  })
})

test('the bytes are read with the token, and the type is that of the answer', async () => {
  using server = httpServer(
    ({ headers }) =>
      new Response(new Uint8Array([1, 2, 3]), {
        headers: { 'content-type': headers.get('accept-encoding') === 'identity' ? 'Image/PNG; x=y' : 'x/x' },
      }),
  )
  const content = valueOf(await read(server.url))
  expect([content.contentType, await bytesOf(content)]).toEqual(['image/png', 3])
  await content.ended
  const [request] = server.requests
  expect([request?.path, request?.headers.get('authorization')]).toEqual([PATH, `Bearer ${ACCESS_TOKEN}`])
})

describe.each([false, true])('an answer, through a proxy: %p', (throughProxy) => {
  /** What is read of an answer with this head and body; null if it is no file. `size` is what the record says. */
  async function readOf(head: string, body: string, size: number | null = null): Promise<[string, number] | null> {
    await using server = await rawServer((socket) => void socket.end(`HTTP/1.1 ${head}\r\n\r\n${body}`))
    const client = clientOf(server.url, { throughProxy })
    const answered = await client.readAttachment(ACCESS_TOKEN, { ...attachmentAt(server.url + PATH), size })
    return answered.ok ? [answered.value.contentType, await bytesOf(answered.value)] : null
  }

  test.each([
    ['no type', ''],
    ['an empty type', '\r\nContent-Type:'],
    ['nonsense', '\r\nContent-Type: nonsense'],
    ['a range of types', '\r\nContent-Type: image/*'],
    ['half a type', '\r\nContent-Type: image/'],
    ['two types', '\r\nContent-Type: image/png, text/html'],
    ['two headers', '\r\nContent-Type: image/png\r\nContent-Type: text/html'],
    ['a type with more behind it', '\r\nContent-Type: image/png text/html'],
    ['a type of other letters', '\r\nContent-Type: im\u00E4ge/png'],
    ['a type that is too long', `\r\nContent-Type: image/${'x'.repeat(100)}`],
  ])('with %s is octet-stream, although the record says image/jpeg', async (_name, header) => {
    expect(await readOf(`200 OK${header}`, 'abc')).toEqual(['application/octet-stream', 3])
  })

  const png = '\r\nContent-Type: image/png'
  test.each([
    ['a 204', '204 No Content', '', null],
    ['a 204 for a file of 0 bytes', '204 No Content', '', 0],
    ['a 202', `202 Accepted${png}`, 'abc', 3],
    ['a part of the file', `206 Partial Content${png}\r\nContent-Range: bytes 0-2/9`, 'abc', 9],
    ['nothing, of a file of 3 bytes', `200 OK${png}\r\nContent-Length: 0`, '', 3],
    ['nothing, of a file of 3 bytes, unannounced', `200 OK${png}`, '', 3],
    ['nothing, of a file of unknown size, unannounced', `200 OK${png}`, '', null],
    ['no chunk, of a file of unknown size', `200 OK${png}\r\nTransfer-Encoding: chunked`, '0\r\n\r\n', null],
  ])('with %s is no file', async (_name, head, body, size) => {
    expect(await readOf(head, body, size)).toBeNull()
  })

  test.each([
    ['nothing, of a file of 0 bytes', `200 OK${png}\r\nContent-Length: 0`, '', 0, 0],
    ['nothing, of a file of 0 bytes, unannounced', `200 OK${png}`, '', 0, 0],
    ['nothing, of a file of unknown size, announced as 0 bytes', `200 OK${png}\r\nContent-Length: 0`, '', null, 0],
    ['more than the record says', `200 OK${png}`, 'abc', 1, 3],
    ['something, of a file of 0 bytes', `200 OK${png}`, 'abc', 0, 3],
  ])('with %s is a file', async (_name, head, body, size, bytes) => {
    expect(await readOf(head, body, size)).toEqual(['image/png', bytes])
  })
})

test('what is announced as more than 5 MiB is refused, and what turns out to be more is broken off', async () => {
  using announced = httpServer(() => new Response(new Uint8Array(10 * MIB)))
  expect(failureOf(await read(announced.url))).toMatchObject({ code: 'ERR_ANSWER_TOO_LARGE' })
  using exact = httpServer(() => new Response(new Uint8Array(5 * MIB)))
  expect(await bytesOf(valueOf(await read(exact.url)))).toBe(5 * MIB)
  let sent = 0
  await using unannounced = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\nx')
    const more = (): void => {
      if (socket.destroyed) return
      sent += 64 * 1024
      if (socket.write(new Uint8Array(64 * 1024))) setImmediate(more)
      else socket.once('drain', more)
    }
    setImmediate(more)
  })
  const content = valueOf(await read(unannounced.url))
  expect(await bytesOf(content).catch(String)).toContain('ERR_ANSWER_TOO_LARGE')
  await content.ended
  expect(sent).toBeLessThan(64 * MIB)
})

test('no first byte within PROVIDER_TIMEOUT is a failure, and a body that trickles is broken off after a minute', async () => {
  const asked = Promise.withResolvers<void>()
  await using silent = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n')
    socket.once('data', () => asked.resolve())
  })
  await using trickling = await rawServer(
    (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
  )
  const timers = fakeTimers()
  const failing = read(silent.url)
  await asked.promise
  timers.advance(5000)
  expect(failureOf(await failing)).toMatchObject({ reason: 'ambiguous', code: 'TimeoutError' })
  const content = valueOf(await read(trickling.url))
  const reading = bytesOf(content).catch(String)
  timers.advance(59_999)
  expect(await Promise.race([content.ended.then(() => 'ended'), Promise.resolve('reads')])).toBe('reads')
  timers.advance(1)
  expect(await reading).toContain('TimeoutError')
  await content.ended
})

test('an answer that breaks off is an error, and a reader that leaves closes the connection', async () => {
  await using broken = await rawServer((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'))
  expect(await bytesOf(valueOf(await read(broken.url))).catch(String)).toContain('ECONNRESET')
  let closed = false
  await using open = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx')
    socket.resume().on('close', () => (closed = true))
  })
  const content = valueOf(await read(open.url))
  await content.bytes.cancel()
  await content.ended
  await until(() => closed)
})

test('through a proxy the same holds', async () => {
  using server = httpServer(() => new Response(new Uint8Array(3), { headers: { 'content-type': 'image/png' } }))
  const content = valueOf(await read(server.url, undefined, true))
  expect([content.contentType, await bytesOf(content)]).toEqual(['image/png', 3])
  expect(server.requests[0]?.headers.get('authorization')).toBe(`Bearer ${ACCESS_TOKEN}`)
  await using evil = await rawServer(() => undefined)
  expect(failureOf(await read(server.url, evil.url + PATH, true))).toMatchObject({ reason: 'rejected', status: null })
  using redirecting = httpServer(() => new Response(null, { status: 302, headers: { location: evil.url + PATH } }))
  expect(failureOf(await read(redirecting.url, undefined, true))).toMatchObject({ reason: 'intercepted', status: 302 })
  expect([server.requests.length, evil.connections]).toEqual([1, 0])
  using announced = httpServer(() => new Response(new Uint8Array(10 * MIB)))
  expect(failureOf(await read(announced.url, undefined, true))).toMatchObject({ code: 'ERR_ANSWER_TOO_LARGE' })
  await using broken = await rawServer((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'))
  const cut = await read(broken.url, undefined, true)
  expect(cut.ok ? await bytesOf(cut.value).catch(String) : cut.failure.code).toContain('ECONNRESET')
})

test('a refusal whose body trickles takes no longer than a call', async () => {
  const asked = Promise.withResolvers<void>()
  await using refusing = await rawServer((socket) => {
    socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\nx')
    socket.once('data', () => asked.resolve())
  })
  const timers = fakeTimers()
  const reading = read(refusing.url)
  await asked.promise
  timers.advance(5000)
  expect(failureOf(await reading)).toMatchObject({ code: 'TimeoutError' })
})

describe('the attachments of a record', () => {
  const text = { id: '1', type: 'Text', contentType: 'text/plain' }
  const picture = {
    id: 2,
    type: 'MmsAttachment',
    uri: `https://media.ringcentral.com${PATH}`,
    contentType: 'Image/JPEG',
    size: 461_020,
  }

  test('are those beside the text', () => {
    expect(readAttachments([text, picture])).toEqual([
      { attachmentId: '2', contentType: 'image/jpeg', size: 461_020, fileName: null, uri: picture.uri },
    ])
    for (const none of [[], [text], undefined, null, 'x', {}, 5]) expect(readAttachments(none)).toEqual([])
  })

  test.each([
    [{ id: 2 }, { contentType: 'application/octet-stream', size: null, uri: null }],
    [{ ...picture, size: -1 }, { size: null }],
    [{ ...picture, size: '5' }, { size: null }],
    [{ ...picture, size: 1e300 }, { size: null }],
    [{ ...picture, contentType: 'image/jpeg\r\nX: y' }, { contentType: 'application/octet-stream' }],
    [{ ...picture, contentType: 5 }, { contentType: 'application/octet-stream' }],
    [{ ...picture, uri: ['x'] }, { uri: null }],
    [{ ...picture, uri: `https://x/${'a'.repeat(3000)}` }, { uri: null }],
    [{ ...picture, uri: 'https://x/\ud800' }, { uri: null }],
    [{ ...picture, fileName: 'a\0b' }, { fileName: 'a\uFFFDb' }],
    [{ ...picture, fileName: '😀'.repeat(200) }, { fileName: '😀'.repeat(127) }],
  ])('are kept where a member cannot be read: %#', (record, expected) => {
    expect(readAttachments([record])).toMatchObject([{ attachmentId: '2', ...expected }])
  })

  test('are left out if nobody could name them, and at most 20', () => {
    for (const id of [undefined, '', 'a/b', '../x', 'a b', 2 ** 60, {}, '%00'])
      expect(readAttachments([{ ...picture, id }])).toEqual([])
    expect(readAttachments([null, 'x', 5, []])).toEqual([])
    expect(readAttachments(Array.from({ length: 1000 }, (_, id) => ({ ...picture, id })))).toHaveLength(20)
  })
})
