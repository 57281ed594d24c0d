import { expect, test } from 'bun:test'
import { readBackupSettings } from '../../../src/operator/backup/settings.ts'
import { ObjectStore } from '../../../src/operator/lease/object-store.ts'
import { removeEpochs } from '../../../src/operator/lease/remove-epochs.ts'
import { S3Stub } from '../../support/s3-stub.ts'

const DAY_MS = 86_400_000

const KEYS = [
  '0000/1.ltx',
  'e1/0000/1.ltx',
  'e1/0000/2.ltx',
  'e2/0000/1.ltx',
  'e5/0000/1.ltx',
  'e6/0000/1.ltx',
  'lease.json',
  'standby/gone_3000.json',
]

async function world(): Promise<{ stub: S3Stub; store: ObjectStore; keys(): string[] }> {
  const stub = new S3Stub({ pageSize: 1 })
  for (const key of [...KEYS.map((name) => `sgw/${name}`), 'other/e1/1']) stub.bucket.put(key, new Uint8Array(1))
  const store = new ObjectStore(readBackupSettings({ values: stub.environment(), readFile: () => '' }, '/data/sgw.db'))
  return { stub, store, keys: () => stub.bucket.keys }
}

test('copies of earlier holders go after a day, but not the last one, the own one, or what others have stored', async () => {
  const { stub, store, keys } = await world()
  await using _ = stub
  expect(await removeEpochs(store, 6, Date.now() + DAY_MS + 2000)).toEqual([2, 1])
  expect(keys()).toEqual(['other/e1/1', 'sgw/0000/1.ltx', 'sgw/e5/0000/1.ltx', 'sgw/e6/0000/1.ltx', 'sgw/lease.json'])
})

test('within a day nothing goes, and an old epoch to which somebody still writes stays', async () => {
  const { stub, store, keys } = await world()
  await using _ = stub
  const all = keys()
  expect(await removeEpochs(store, 6, Date.now() + DAY_MS - 5000)).toEqual([])
  expect(keys()).toEqual(all)
  const later = stub.bucket.put('sgw/e1/0000/3.ltx', new Uint8Array(1))
  later.modifiedAt = new Date(Date.now() + DAY_MS)
  expect(await removeEpochs(store, 6, Date.now() + DAY_MS + 2000)).toEqual([2])
})

test('an epoch that has no copy yet keeps the one that it began with', async () => {
  const { stub, store, keys } = await world()
  await using _ = stub
  expect(await removeEpochs(store, 7, Date.now() + DAY_MS + 2000)).toEqual([5, 2, 1])
  expect(keys()).toContain('sgw/e6/0000/1.ltx')
})
