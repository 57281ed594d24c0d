import { afterEach, beforeEach, expect, test } from 'bun:test'
import { S3Stub } from '../../support/s3-stub.ts'

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

test('the faults are: 503, no connection, and a lost answer after the work was done', async () => {
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
