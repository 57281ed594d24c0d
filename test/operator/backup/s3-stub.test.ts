import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DistantStorage } from '../../support/distant-storage.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { until } from '../../support/world.ts'

// An independent client checks the stub: Bun's own.

const PART_BYTES = 5 * 1024 * 1024

let stub: S3Stub
let client: Bun.S3Client

beforeEach(() => {
  stub = new S3Stub({ pageSize: 2 })
  client = clientWith({})
})

afterEach(() => stub[Symbol.asyncDispose]())

const clientWith = (changed: Partial<Bun.S3Options>): Bun.S3Client =>
  new Bun.S3Client({ ...stub.credentials, bucket: stub.name, endpoint: stub.url, retry: 0, ...changed })

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'accepted',
    (error: { code?: string }) => error.code,
  )

/** Writes a new text to `lease.json`. */
async function putIf(headers: Record<string, string>): Promise<{ status: number; etag: string; body: string }> {
  const body = crypto.randomUUID()
  const answer = await fetch(client.presign('lease.json', { method: 'PUT' }), { method: 'PUT', headers, body })
  return { status: answer.status, etag: answer.headers.get('etag') ?? '', body }
}

test('an object is stored with its size and ETag and read completely or by range; a missing object is an error', async () => {
  await client.write("a folder/what's (new)+*.txt", 'The night is long')
  const file = client.file("a folder/what's (new)+*.txt")
  expect(await file.text()).toBe('The night is long')
  expect(await file.slice(4, 9).text()).toBe('night')
  expect(await file.stat()).toMatchObject({ size: 17, etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) })
  await file.delete()
  expect(await file.exists()).toBe(false)
  expect(await codeOf(file.text())).toBe('NoSuchKey')
})

test('a multipart upload becomes one object', async () => {
  const bytes = crypto.getRandomValues(Buffer.alloc(PART_BYTES + 1000).subarray(0, 60_000))
  const whole = Buffer.alloc(PART_BYTES + 1000, bytes)
  const writer = client.file('large').writer({ partSize: PART_BYTES })
  await writer.write(whole.subarray(0, PART_BYTES))
  await writer.write(whole.subarray(PART_BYTES))
  await writer.end()
  expect(Buffer.from(await client.file('large').arrayBuffer()).equals(whole)).toBe(true)
  expect(stub.bucket.get('large').etag).toEndWith('-2"')
})

test('a listing has pages, and each folder once', async () => {
  for (const key of ['b/1', 'b/2', 'a', 'c', 'd', 'e/1']) await client.write(key, key)
  const names: string[] = []
  for (let token: string | undefined, more = true; more;) {
    const page = await client.list({ delimiter: '/', ...(token === undefined ? {} : { continuationToken: token }) })
    names.push(...(page.contents ?? []).map(({ key }) => key))
    names.push(...(page.commonPrefixes ?? []).map(({ prefix }) => prefix))
    token = page.nextContinuationToken
    more = page.isTruncated === true
  }
  expect(names).toEqual(['a', 'b/', 'c', 'd', 'e/'])
  expect((await client.list({ prefix: 'b/', startAfter: 'b/1' })).contents?.map(({ key }) => key)).toEqual(['b/2'])
})

test('a wrong key, secret, region or bucket and an unsigned request are refused', async () => {
  const put = (changed: Partial<Bun.S3Options>): Promise<unknown> => codeOf(clientWith(changed).write('key', 'text'))
  expect(await put({ accessKeyId: 'AKIDOFADAY' })).toBe('InvalidAccessKeyId')
  expect(await put({ secretAccessKey: 'guessed' })).toBe('SignatureDoesNotMatch')
  expect(await put({ region: 'elsewhere-1' })).toBe('AuthorizationHeaderMalformed')
  expect(await put({ bucket: 'other' })).toBe('NoSuchBucket')
  expect((await fetch(`${stub.url}/${stub.name}/key`, { method: 'PUT', body: 'text' })).status).toBe(403)
  expect(stub.bucket.keys).toEqual([])
  expect(await put({})).toBe('accepted')
})

test('a presigned address needs no other signature, for its method, path and time alone', async () => {
  const put = client.presign('lease.json', { method: 'PUT', expiresIn: 60 })
  expect((await fetch(put, { method: 'PUT', body: 'mine' })).status).toBe(200)
  expect(await (await fetch(client.presign('lease.json'))).text()).toBe('mine')
  const refused = async (url: string, method = 'PUT'): Promise<number> =>
    (await fetch(url, method === 'PUT' ? { method, body: 'theirs' } : { method })).status
  expect(await refused(put, 'DELETE')).toBe(403)
  expect(await refused(put.replace('lease.json', 'other.json'))).toBe(403)
  expect(await refused(put.replace('X-Amz-Expires=60', 'X-Amz-Expires=61'))).toBe(403)
  expect(await refused(put.replace(/X-Amz-Signature=[^&]*/, 'X-Amz-Signature=none'))).toBe(400)
  expect(await refused(put.replace(/&X-Amz-Date=\d{8}/, (date) => date.replace(/\d{4}/, '2020')))).toBe(400)
  expect(stub.bucket.keys).toEqual(['lease.json'])
  expect(await client.file('lease.json').text()).toBe('mine')
})

test('a write with If-Match or If-None-Match happens only if the object is as expected', async () => {
  expect(await putIf({ 'if-match': '"none"' })).toMatchObject({ status: 404 })
  const first = await putIf({ 'if-none-match': '*' })
  expect(first.status).toBe(200)
  expect(first.etag).toMatch(/^"[0-9a-f]{32}"$/)
  expect(await putIf({ 'if-none-match': '*' })).toMatchObject({ status: 412 })
  expect(await putIf({ 'if-none-match': first.etag })).toMatchObject({ status: 501 })
  const second = await putIf({ 'if-match': first.etag })
  expect(second.status).toBe(200)
  expect(await putIf({ 'if-match': first.etag })).toMatchObject({ status: 412 })
  const stored = await fetch(client.presign('lease.json'))
  expect(stored.headers.get('etag')).toBe(second.etag)
  expect(await stored.text()).toBe(second.body)
  expect(stub.refusals).toEqual(['NoSuchKey', 'PreconditionFailed', 'NotImplemented', 'PreconditionFailed'])
})

test('of fifty writers who replace the same object at once, one succeeds', async () => {
  stub.delayMs = 2
  const { etag } = await putIf({ 'if-none-match': '*' })
  const answers = await Promise.all(Array.from({ length: 50 }, () => putIf({ 'if-match': etag })))
  const [winner, ...others] = answers.filter(({ status }) => status !== 412)
  expect(others).toEqual([])
  expect(await client.file('lease.json').text()).toBe(winner?.body ?? '')
})

test('a storage that does not know conditional writes stores every one', async () => {
  stub.behaviour.ignoresConditions = true
  for (const headers of [{ 'if-match': '"stale"' }, { 'if-none-match': '*' }])
    expect(await putIf(headers)).toMatchObject({ status: 200 })
})

test('a request that hangs is performed when the object storage answers again', async () => {
  stub.fault = 'hang'
  const writing = client.write('late', 'text')
  await until(() => stub.hanging === 1)
  expect(stub.bucket.keys).toEqual([])
  stub.fault = 'none'
  await writing
  expect(stub.bucket.keys).toEqual(['late'])
})

test('a network that is held delivers nothing, while that of another client goes on', async () => {
  await using network = await DistantStorage.start(stub.url, 0)
  const held = clientWith({ endpoint: network.url })
  await held.write('before', 'text')
  network.hold()
  const writing = held.write('held', 'text')
  await client.write('other', 'text')
  expect(stub.bucket.keys).toEqual(['before', 'other'])
  network.release()
  await writing
  expect(stub.bucket.keys).toEqual(['before', 'held', 'other'])
})

test('the faults are: 503, 403, no connection, and a lost answer after the work was done', async () => {
  stub.fault = 'refuse'
  expect(await codeOf(client.write('forbidden', 'text'))).toBe('AccessDenied')
  stub.fault = 'slow down'
  expect(await codeOf(client.write('refused', 'text'))).toBe('SlowDown')
  stub.fault = 'answer lost'
  expect(await codeOf(client.write('done', 'text'))).not.toBe('accepted')
  stub.fault = 'none'
  await stub.goAway()
  expect(await codeOf(client.write('unreachable', 'text'))).not.toBe('accepted')
  stub.comeBack()
  expect(await client.file('done').text()).toBe('text')
  expect(stub.bucket.keys).toEqual(['done'])
})
