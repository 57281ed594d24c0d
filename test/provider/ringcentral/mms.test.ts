import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { uploadMs } from '../../../src/core/upload-time.ts'
import type { OutboundMedia } from '../../../src/provider/outbound-sms.ts'
import { ACCESS_TOKEN, clientOf, failureOf, rawServer, valueOf } from './servers.ts'

const SMS = { from: '+16505550101', to: '+16505550123', text: 'Grüße 😀' }
const ANSWER = JSON.stringify({ id: 3062991514016, messageStatus: 'Queued' })

/** Bytes that contain line breaks and what looks like delimiters. */
const TRICKY = Buffer.concat([
  Buffer.from('\r\n--sgw-\r\n\r\n--\r\n'),
  Buffer.from(Array.from({ length: 256 }, (_, at) => at)),
])

const mediaOf = (change: Partial<OutboundMedia> = {}, bytes: Uint8Array = TRICKY): OutboundMedia => ({
  contentType: 'image/png',
  fileName: 'photo.png',
  size: bytes.length,
  read: () => Promise.resolve(bytes),
  ...change,
})

interface ReceivedPart {
  name: string
  fileName: string
  type: string
  sha256: string
}

/** Reads multipart bodies by Bun's own parser. */
function formServer() {
  const received: { path: string; type: string; parts: ReceivedPart[]; json: unknown; raw: string }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const type = request.headers.get('content-type') ?? ''
      const bytes = await request.bytes()
      // The parser of a test, which nobody attacks.
      // oxlint-disable-next-line typescript/no-deprecated
      const form = await new Response(bytes, { headers: { 'content-type': type } }).formData()
      const entries = [...form.entries()] as [string, File][]
      const parts = entries.map(async ([name, file]) => ({
        name,
        fileName: file.name,
        type: file.type,
        sha256: sha256Of(await file.bytes()),
      }))
      const json: unknown = JSON.parse((await entries[0]?.[1].text()) ?? '')
      received.push({
        path: new URL(request.url).pathname,
        type,
        parts: await Promise.all(parts),
        json,
        raw: Buffer.from(bytes).toString(),
      })
      return new Response(ANSWER)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, received, [Symbol.dispose]: () => void server.stop(true) }
}

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

test.each([
  ['by sockets', false],
  ['by fetch, as through a proxy', true],
])(
  'a message with media is one multipart POST to /sms: its JSON first, then each file in order (%s)',
  async (_, throughProxy) => {
    using server = formServer()
    const large = Buffer.alloc(1_400_000, 'x')
    const media = [mediaOf(), mediaOf({ contentType: 'video/mp4', fileName: 'Film 1 – Ü.mp4' }, large)]
    const client = clientOf(server.url, { throughProxy })
    const sent = valueOf(await client.sendSms(ACCESS_TOKEN, { ...SMS, media }))
    expect(sent).toEqual({ providerMessageId: '3062991514016', failed: false, ownerId: null })
    expect(server.received).toEqual([
      {
        path: '/restapi/v1.0/account/~/extension/~/sms',
        type: expect.stringMatching(/^multipart\/form-data; boundary=sgw-[0-9a-f-]{36}$/),
        raw: expect.any(String),
        json: { from: { phoneNumber: SMS.from }, to: [{ phoneNumber: SMS.to }], text: SMS.text },
        parts: [
          {
            name: 'json',
            fileName: 'request.json',
            type: expect.stringContaining('application/json'),
            sha256: expect.any(String),
          },
          { name: 'attachment', fileName: 'photo.png', type: 'image/png', sha256: sha256Of(TRICKY) },
          { name: 'attachment', fileName: 'Film 1 – Ü.mp4', type: 'video/mp4', sha256: sha256Of(large) },
        ],
      },
    ])
    // The connection is kept, and nothing of the upload is left in it.
    expect((await client.sendSms(ACCESS_TOKEN, { ...SMS, media: [mediaOf()] })).ok).toBe(true)
  },
)

test.each([
  ['a"; filename="b.exe', 'a_; filename=_b.exe'],
  ['a\r\nContent-Type: text/html\r\n\r\n<script>', 'a__Content-Type: text_html____<script>'],
  ['a\nb\u0000c\u007Fd\u2028e', 'a_b_c_d_e'],
  ['back\\', 'back_'],
  ['../../etc/passwd', '.._.._etc_passwd'],
  ['\u202Egnp.exe', '_gnp.exe'],
  ['..', 'attachment-1.png'],
  [' . ', 'attachment-1.png'],
])('the file name %j changes nothing but itself', async (fileName, written) => {
  using server = formServer()
  expect((await clientOf(server.url).sendSms(ACCESS_TOKEN, { ...SMS, media: [mediaOf({ fileName })] })).ok).toBe(true)
  const [{ raw, type } = { raw: '', type: '' }] = server.received
  const head = raw.split(`--${type.split('boundary=')[1]}\r\n`)[2]?.split('\r\n\r\n')[0]
  expect(head?.split(/[\r\n]+/)).toEqual([
    `Content-Disposition: form-data; name="attachment"; filename="${written}"`,
    'Content-Type: image/png',
  ])
  expect(server.received[0]?.parts.map(({ name }) => name)).toEqual(['json', 'attachment'])
})

test('a file without a name gets one with the ending of its type', async () => {
  using server = formServer()
  const types = ['image/jpeg', 'image/webp', 'text/vcard', 'text/plain', 'audio/mp4']
  const media = types.map((contentType, at) => mediaOf({ contentType, fileName: at === 0 ? '' : null }))
  valueOf(await clientOf(server.url).sendSms(ACCESS_TOKEN, { ...SMS, text: '', media }))
  expect(server.received[0]?.parts.slice(1).map(({ fileName }) => fileName)).toEqual([
    'attachment-1.jpg',
    'attachment-2.webp',
    'attachment-3.vcf',
    'attachment-4.txt',
    'attachment-5.m4a',
  ])
})

test('a call with media may take 1 s longer for each 20 KB, 90 s at most', () => {
  expect([0, 1, 20_000, 20_001, 1_500_000].map((bytes) => uploadMs(15_000, bytes))).toEqual([
    0, 1000, 1000, 2000, 75_000,
  ])
  expect([uploadMs(60_000, 1_500_000), uploadMs(120_000, 1_500_000)]).toEqual([30_000, 0])
})

test('a call with media goes on when a text has timed out', async () => {
  const released = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async () => released.promise.then(() => new Response(ANSWER)),
  })
  using _ = { [Symbol.dispose]: () => void server.stop(true) }
  const client = clientOf(`http://127.0.0.1:${server.port}`, { timeoutMs: 100 })
  const withMedia = client.sendSms(ACCESS_TOKEN, { ...SMS, media: [mediaOf({}, Buffer.alloc(1_000_000))] })
  expect(failureOf(await client.sendSms(ACCESS_TOKEN, SMS))).toMatchObject({
    reason: 'ambiguous',
    code: 'TimeoutError',
  })
  released.resolve()
  expect((await withMedia).ok).toBe(true)
})

test('an answer that comes before the files are read counts, and its connection is used no more', async () => {
  const refusal = JSON.stringify({ errorCode: 'MSG-338', message: 'Message size limit exceeded', errors: [] })
  await using server = await rawServer((socket) => {
    socket.once('data', () => {
      socket.pause()
      socket.write(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${refusal.length}\r\n\r\n${refusal}`,
      )
    })
  })
  const client = clientOf(server.url)
  const media = [mediaOf({}, Buffer.alloc(30_000_000))]
  for (const calls of [1, 2]) {
    expect(failureOf(await client.sendSms(ACCESS_TOKEN, { ...SMS, media }))).toMatchObject({
      reason: 'rejected',
      code: 'MSG-338',
    })
    expect(server.connections).toBe(calls)
  }
})

test.each([
  ['at once', 0],
  ['in the middle of the files', 300_000],
])(
  'a connection that is reset %s leaves open whether the message was sent, and nothing is sent again',
  async (_, afterBytes) => {
    await using server = await rawServer((socket) => {
      let read = 0
      socket.on('data', (bytes) => (read += bytes.length) > afterBytes && socket.resetAndDestroy())
    })
    const media = [mediaOf({}, Buffer.alloc(1_400_000))]
    const { reason, status } = failureOf(await clientOf(server.url).sendSms(ACCESS_TOKEN, { ...SMS, media }))
    expect([reason, status, server.connections]).toEqual(['ambiguous', null, 1])
  },
)
