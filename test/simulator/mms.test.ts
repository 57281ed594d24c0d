import { expect, test } from 'bun:test'
import { ALICE, answer, codes, CUSTOMER, SELF, smsBody, startHarness, type SimulatorHarness } from './harness.ts'

const TOLL_FREE = '+18885550100'
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 13, 10, 13, 10, 45, 45])

interface File {
  /** Null: no such header. */
  disposition?: string | null
  type?: string | null
  bytes?: Uint8Array
}

const ATTACHED = 'form-data; name="attachment"; filename="a.png"'

/** The bytes of a multipart body whose first part is `body`. */
function multipart(body: unknown, files: readonly File[], boundary = 'XX'): Buffer {
  const json = typeof body === 'string' ? body : JSON.stringify(body)
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="json"; filename="request.json"\r\nContent-Type: application/json\r\n\r\n${json}`
  const parts = files.map(({ disposition = ATTACHED, type = 'image/png', bytes = PNG }) => {
    const headers = [disposition && `Content-Disposition: ${disposition}`, type && `Content-Type: ${type}`]
    return Buffer.concat([
      Buffer.from(
        `\r\n--${boundary}\r\n${headers
          .filter(Boolean)
          .map((one) => `${one}\r\n`)
          .join('')}\r\n`,
      ),
      bytes,
    ])
  })
  return Buffer.concat([Buffer.from(head), ...parts, Buffer.from(`\r\n--${boundary}--\r\n`)])
}

async function startMms() {
  const harness = await startHarness()
  harness.control.addNumber({ extensionId: harness.alice, phoneNumber: TOLL_FREE })
  const { access_token } = await harness.login()
  const headers = { authorization: `Bearer ${access_token}` }
  const post = (path: string, type: string, body: Buffer) =>
    answer(
      fetch(`${harness.simulator.url}/restapi/v1.0${SELF}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body,
      }),
    )
  const send = (body: unknown, files: readonly File[]) =>
    post('/sms', 'multipart/form-data; boundary=XX', multipart(body, files))
  const read = async (uri: string) => {
    const response = await fetch(uri, { headers })
    return { status: response.status, type: response.headers.get('content-type'), bytes: await response.bytes() }
  }
  return { harness, post, send, read, access_token, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() }
}

interface RecordAttachment {
  id: number
  type: string
  uri: string
}
const attachmentsOf = (body: Record<string, unknown>) => body['attachments'] as RecordAttachment[]
const stored = ({ control }: SimulatorHarness) => control.messages()

test.each([
  ['/sms', 'multipart/form-data; boundary=XX'],
  ['/sms', 'multipart/mixed; boundary="XX"'],
  ['/mms', 'multipart/form-data; charset=utf-8; boundary=XX'],
  ['/mms', 'Multipart/Mixed; Boundary=XX'],
])(
  'a message with two files (POST %s, %s) is one record with its text and both, whose bytes can be read',
  async (path, type) => {
    await using mms = await startMms()
    const second = {
      type: 'Text/Vcard; charset=utf-8',
      disposition: `attachment; filename="J\\"o.vcf"`,
      bytes: Buffer.from('VCARD'),
    }
    const sent = await mms.post(path, type, multipart(smsBody('Look'), [{}, second]))
    expect([sent.status, sent.body['type'], sent.body['subject'], sent.body['messageStatus']]).toEqual([
      200,
      'SMS',
      'Look',
      'Queued',
    ])
    expect(attachmentsOf(sent.body)).toMatchObject([
      { id: sent.body.id, type: 'Text', contentType: 'text/plain' },
      { type: 'MmsAttachment', contentType: 'image/png', size: PNG.length, fileName: 'a.png' },
      { type: 'MmsAttachment', contentType: 'text/vcard', size: 5, fileName: 'J"o.vcf' },
    ])
    const [, picture, card] = attachmentsOf(sent.body)
    expect(await mms.read(picture?.uri ?? '')).toEqual({ status: 200, type: 'image/png', bytes: PNG })
    expect((await mms.read(card?.uri ?? '')).bytes).toEqual(Uint8Array.from(Buffer.from('VCARD')))
    const listed = await mms.harness.api(mms.access_token, 'GET', `${SELF}/message-store/${sent.body.id}`)
    expect(attachmentsOf(listed.body)).toEqual(attachmentsOf(sent.body))
  },
)

test('an MMS without text has no text part and no subject', async () => {
  await using mms = await startMms()
  const { text: _, ...body } = smsBody('')
  const sent = await mms.send(body, [{}])
  expect(sent.status).toBe(200)
  expect(sent.body).not.toHaveProperty('subject')
  expect(attachmentsOf(sent.body).map(({ type }) => type)).toEqual(['MmsAttachment'])
})

test('a multipart body without files is a text', async () => {
  await using mms = await startMms()
  const sent = await mms.send(smsBody('Only text'), [])
  expect([sent.status, attachmentsOf(sent.body).map(({ type }) => type)]).toEqual([200, ['Text']])
  const refused = await mms.post('/mms', 'multipart/form-data; boundary=XX', multipart(smsBody('Only text'), []))
  expect([...codes(refused), refused.body.errors[0]?.parameterName]).toEqual([400, 'CMN-101', 'attachments'])
})

const big = (size: number) => ({ bytes: new Uint8Array(size) })
const ELEVEN = Array.from({ length: 11 }, () => ({}))

const REFUSED: [string, unknown, File[], number, string][] = [
  ['a file without a disposition', smsBody('x'), [{ disposition: null }], 400, 'MSG-350'],
  ['a file without a name', smsBody('x'), [{ disposition: 'form-data; name="a"' }], 400, 'MSG-351'],
  ['a file with an empty name', smsBody('x'), [{ disposition: 'form-data; filename=""' }], 400, 'MSG-351'],
  ['an empty file', smsBody('x'), [{ bytes: new Uint8Array() }], 400, 'MSG-347'],
  ['a file of 1,500,001 bytes', smsBody('x'), [big(1_500_001)], 400, 'MSG-337'],
  ['files of 1,500,001 bytes together', smsBody('x'), [big(1_000_000), big(500_001)], 400, 'MSG-338'],
  ['eleven files', smsBody('x'), ELEVEN, 400, 'MSG-338'],
  ['a program', smsBody('x'), [{ type: 'application/x-msdownload' }], 415, 'MSG-348'],
  ['a file without a type', smsBody('x'), [{ type: null }], 415, 'MSG-348'],
  ['a type that objects inherit', smsBody('x'), [{ type: 'constructor/name' }], 415, 'MSG-348'],
  ['a toll-free number', smsBody('x', CUSTOMER, TOLL_FREE), [{}], 403, 'MSG-380'],
  ['a recipient abroad', smsBody('x', '+4930123456'), [{}], 403, 'MSG-383'],
  ['1,001 units of text', smsBody('x'.repeat(1001)), [{}], 400, 'CMN-101'],
  ['a number as text', { ...smsBody(''), text: 1 }, [{}], 400, 'CMN-101'],
  ['no JSON first', 'Hello', [{}], 400, 'CMN-103'],
]

test.each(REFUSED)('an MMS with %s is refused, and nothing is stored', async (_, body, files, status, code) => {
  await using mms = await startMms()
  expect(codes(await mms.send(body, files))).toEqual([status, code])
  expect(stored(mms.harness)).toEqual([])
})

test('a toll-free number sends texts', async () => {
  await using mms = await startMms()
  expect((await mms.send(smsBody('x', CUSTOMER, TOLL_FREE), [])).status).toBe(200)
})

const WHOLE = multipart(smsBody('x'), [{}])
test.each<[string, string, Buffer]>([
  ['without a boundary', 'multipart/form-data', WHOLE],
  ['with another boundary', 'multipart/form-data; boundary=YY', WHOLE],
  ['with a boundary of 71 characters', `multipart/form-data; boundary=${'X'.repeat(71)}`, WHOLE],
  ['that breaks off', 'multipart/form-data; boundary=XX', WHOLE.subarray(0, -6)],
  [
    'whose part has no end of its headers',
    'multipart/form-data; boundary=XX',
    Buffer.from('--XX\r\nA: b\r\n--XX--\r\n'),
  ],
  ['that is empty', 'multipart/form-data; boundary=XX', Buffer.alloc(0)],
  [
    'of 51 parts',
    'multipart/form-data; boundary=XX',
    multipart(
      smsBody('x'),
      Array.from({ length: 50 }, () => ({})),
    ),
  ],
  [
    'with 9 KB of headers',
    'multipart/form-data; boundary=XX',
    multipart(smsBody('x'), [{ disposition: `form-data; filename="${'\\'.repeat(9000)}"` }]),
  ],
])('a multipart body %s is answered with 400, and nothing is stored', async (_, type, body) => {
  await using mms = await startMms()
  expect(codes(await mms.post('/sms', type, body))).toEqual([400, 'CMN-104'])
  expect(stored(mms.harness)).toEqual([])
})

test('what looks like a delimiter within a file stays in the file', async () => {
  await using mms = await startMms()
  const bytes = Buffer.from('a--XX\r\n--X\r\nXX--\n--XX--\r\r\n')
  const sent = await mms.send(smsBody('x'), [{ bytes }])
  expect(attachmentsOf(sent.body)[1]).toMatchObject({ size: bytes.length })
})

test('a preamble, spaces behind a delimiter and an epilogue are no part', async () => {
  await using mms = await startMms()
  const body = Buffer.from(
    `preamble\r\n${WHOLE.toString('latin1').replaceAll('--XX\r\n', '--XX \t\r\n')}epilogue`,
    'latin1',
  )
  const sent = await mms.post('/sms', 'multipart/mixed; boundary=XX', body)
  expect([sent.status, attachmentsOf(sent.body).length]).toEqual([200, 2])
})

test('the recorded call shows the message and not the bytes of its files', async () => {
  await using mms = await startMms()
  const sent = await mms.send(smsBody('Look'), [{}])
  const [call] = mms.harness.control.calls({ from: ALICE, to: CUSTOMER })
  expect(call?.request.body).toBe(JSON.stringify(smsBody('Look')))
  expect(call?.rcMessageId).toBe(String(sent.body.id))
})

test('the bytes of the oldest media are forgotten beyond 100 MB, their records stay', async () => {
  await using mms = await startMms()
  const attachments = [{ contentType: 'video/mp4', size: 60_000_000 }]
  const [old] = attachmentsOf((await mms.send(smsBody('x'), [{}])).body).slice(1)
  for (let left = 2; left > 0; left--) await mms.harness.control.injectSms({ to: ALICE, attachments })
  expect((await mms.read(old?.uri ?? '')).status).toBe(404)
  expect(stored(mms.harness)[0]?.attachments).toEqual([
    { contentType: 'image/png', fileName: 'a.png', size: PNG.length },
  ])
})
