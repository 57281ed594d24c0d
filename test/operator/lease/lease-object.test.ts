import { afterEach, beforeEach, expect, test } from 'bun:test'
import { LeaseObject } from '../../../src/operator/lease/lease-object.ts'
import { ObjectStore } from '../../../src/operator/lease/object-store.ts'
import { testStore } from '../../../src/operator/lease/self-test.ts'
import { readBackupSettings } from '../../../src/operator/backup/settings.ts'
import { listEpochs, settingsOfEpoch } from '../../../src/operator/lease/epochs.ts'
import { failureOf } from '../../support/process.ts'
import { S3Stub } from '../../support/s3-stub.ts'

let stub: S3Stub

beforeEach(() => void (stub = new S3Stub({ pageSize: 2 })))
afterEach(() => stub[Symbol.asyncDispose]())

const settings = (values: Record<string, string> = {}) =>
  readBackupSettings({ values: { ...stub.environment(), ...values }, readFile: () => '' }, '/data/sgw.db')
const storeOf = (values?: Record<string, string>): ObjectStore => new ObjectStore(settings(values))

const CONTENT = {
  epoch: 1,
  holder: 'one:3000',
  url: 'https://sms.example.com',
  keyId: 'abcdef01',
  schema: '0018_attachments',
  copied: 0,
  mayBeSent: false,
  clientId: '',
  retention: '',
}

test('of fifty gateways that take the lease at the same time, one gets it, and again when it is taken over', async () => {
  const gateways = Array.from({ length: 50 }, () => new LeaseObject(storeOf()))
  const first = await Promise.all(gateways.map((one) => one.write(CONTENT, null)))
  expect(first.filter((etag) => etag !== null)).toHaveLength(1)
  const seen = await gateways[0]?.read()
  const second = await Promise.all(gateways.map((one) => one.write({ ...CONTENT, epoch: 2 }, seen?.etag ?? '')))
  expect(second.filter((etag) => etag !== null)).toHaveLength(1)
  expect(await gateways[0]?.read()).toMatchObject({ content: { epoch: 2 } })
})

test('each renewal has another ETag, and a version that was overtaken is not written', async () => {
  const [one, other] = [new LeaseObject(storeOf()), new LeaseObject(storeOf())]
  const first = await one.write(CONTENT, null)
  const second = await one.write(CONTENT, first)
  expect(new Set([first, second]).size).toBe(2)
  expect(await other.write({ ...CONTENT, epoch: 2 }, first)).toBeNull()
  expect(await other.write({ ...CONTENT, epoch: 2, holder: 'two:3000' }, second)).toBeString()
  expect(await one.write(CONTENT, second)).toBeNull()
  const seen = await one.read()
  expect([seen?.content.holder, seen !== null && seen !== undefined && one.isOwn(seen)]).toEqual(['two:3000', false])
})

test('a renewal whose answer is lost does not cost the lease: the next one goes on from it', async () => {
  const one = new LeaseObject(storeOf())
  const first = await one.write(CONTENT, null)
  stub.fault = 'answer lost'
  expect(await failureOf(one.write(CONTENT, first))).toMatchObject({ name: 'StoreError', isRefusal: false })
  stub.fault = 'none'
  expect((await one.read())?.etag).not.toBe(first ?? '')
  expect(await one.write(CONTENT, first)).toBeString()
})

test('a write that is lost on its way is made again, also over the lease of another gateway, and never over a newer one', async () => {
  const [one, other] = [new LeaseObject(storeOf()), new LeaseObject(storeOf())]
  let lost = 0
  const loseTwo = ({ method }: Request): boolean => method === 'PUT' && lost++ < 2
  stub.loses = loseTwo
  const first = await one.write(CONTENT, null)
  expect(first).toBeString()
  lost = 0
  expect(await other.write({ ...CONTENT, epoch: 2 }, first)).toBeString()
  lost = 0
  expect(await one.write({ ...CONTENT, epoch: 3 }, first)).toBeNull()
  expect((await one.read())?.content.epoch).toBe(2)
})

test('an object that is no lease is refused with what to do, and is left as it is', async () => {
  const one = new LeaseObject(storeOf())
  for (const text of ['', 'null', '[]', '{}', '{"epoch":0,"holder":"a"}', '{"epoch":"1"}', '\u0000'.repeat(5000)]) {
    stub.bucket.put('sgw/lease.json', new TextEncoder().encode(text))
    const failure = await failureOf(one.read())
    expect(failure).toMatchObject({
      exitCode: 78,
      message: expect.stringContaining('lease.json beside the backup is not the lease'),
    })
    expect(new TextDecoder().decode(stub.bucket.get('sgw/lease.json').body)).toBe(text)
  }
})

test('a storage with conditional writes is fit, and one that ignores them is not; neither keeps anything of the test', async () => {
  expect(await testStore(storeOf())).toBeNull()
  expect(stub.bucket.keys).toEqual([])
  await using careless = new S3Stub({ pageSize: 2, ignoresConditions: true })
  const store = new ObjectStore(
    readBackupSettings({ values: careless.environment(), readFile: () => '' }, '/data/sgw.db'),
  )
  expect(await testStore(store)).toContain('ignores If-None-Match')
  expect(careless.bucket.keys).toEqual([])
})

test('what the storage refuses for good differs from a storage that does not answer', async () => {
  const kinds = async (values: Record<string, string>): Promise<unknown[]> => {
    const store = storeOf(values)
    const failures = [store.get('a'), store.put('a', '1', 'nothing'), store.folders('e')].map(failureOf)
    return (await Promise.all(failures)).map((failure) => (failure as { isRefusal?: unknown }).isRefusal)
  }
  expect(await kinds({ LITESTREAM_SECRET_ACCESS_KEY: 'wrong' })).toEqual([true, true, true])
  expect(await kinds({ LITESTREAM_REPLICA_URL: 's3://nobody/sgw' })).toEqual([true, true, true])
  // A machine's role has no keys to sign with.
  expect(await kinds({ LITESTREAM_ACCESS_KEY_ID: '', LITESTREAM_SECRET_ACCESS_KEY: '' })).toEqual([true, true, true])
  expect(await kinds({ LITESTREAM_ENDPOINT: 'http://127.0.0.1:9' })).toEqual([false, false, false])
  stub.fault = 'slow down'
  expect(await kinds({})).toEqual([false, false, false])
})

test('epochs have folders of their own below the prefix, and are listed newest first over all pages', async () => {
  const keys = ['e2/ltx/1', 'e10/ltx/1', 'e1/ltx/1', 'e1/ltx/2', 'e9x/1', 'extra/1', 'lease.json', 'standby/a.json']
  for (const key of keys) stub.bucket.put(`sgw/${key}`, new Uint8Array(1))
  stub.bucket.put('other/e99/1', new Uint8Array(1))
  expect(await listEpochs(storeOf())).toEqual([10, 2, 1])
  expect(settingsOfEpoch(settings(), 7).replicaUrl).toBe('s3://backups/sgw/e7')
  expect(settingsOfEpoch(settings(), 0).replicaUrl).toBe('s3://backups/sgw')
  const atRoot = settings({ LITESTREAM_REPLICA_URL: 's3://backups' })
  expect(settingsOfEpoch(atRoot, 7).replicaUrl).toBe('s3://backups/e7')
})
