import { expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config.ts'

const read = (values: Record<string, string>): unknown => {
  const result = readConfig({ values: { NODE_ENV: 'test', ...values }, readFile: () => '' })
  return result.ok ? result.config.durability : result.problems
}

const LITESTREAM_REPLICA_URL = 's3://bucket/sgw'

test('commits need the disk alone, unless the operator names the replica', () => {
  expect(read({})).toEqual({ mode: 'disk', replicaTimeoutMs: 10_000 })
  expect(read({ DURABILITY: 'replica', REPLICA_TIMEOUT: '500ms', LITESTREAM_REPLICA_URL })).toEqual({
    mode: 'replica',
    replicaTimeoutMs: 500,
  })
})

test('a replica without a storage, another word and a time that no request waits are refused, each with its fix', () => {
  expect(read({ DURABILITY: 'replica' })).toEqual([
    'DURABILITY is "replica", but LITESTREAM_REPLICA_URL is not set: name the storage of the backup, for example s3://BUCKET/PATH (docs/beyond-one-machine.md)',
  ])
  expect(read({ DURABILITY: 'Replica' })).toEqual(['DURABILITY is "Replica": use one of: disk, replica'])
  for (const [REPLICA_TIMEOUT, problem] of [
    ['soon', 'is "soon": give a duration such as 500ms, 15s, 5m, 24h or 7d'],
    ['0ms', 'is "0ms": give a duration such as 500ms, 15s, 5m, 24h or 7d, at least 100 ms'],
    ['15s', 'is longer than 14s: requests would be cut off before they are answered'],
  ] as const)
    expect(read({ REPLICA_TIMEOUT })).toEqual([`REPLICA_TIMEOUT ${problem}`])
})

const STANDBY = {
  STANDBY: 'on',
  DURABILITY: 'replica',
  LITESTREAM_REPLICA_URL,
  ENCRYPTION_KEYS: Buffer.alloc(32, 'abc').toString('base64'),
}

const standby = (values: Record<string, string>): unknown => {
  const result = readConfig({ values: { NODE_ENV: 'test', ...STANDBY, ...values }, readFile: () => '' })
  return result.ok ? result.config.standby : result.problems
}

test('a gateway has no standby, unless the operator says so', () => {
  expect([standby({ STANDBY: '' }), standby({ STANDBY: 'off' }), standby({})]).toEqual([false, false, true])
})

test('a standby without a replica, without a storage that can hold a lease, or with other keys is refused, each with its fix', () => {
  expect(standby({ DURABILITY: 'disk' })).toEqual([
    'STANDBY is on, but DURABILITY is not "replica": set DURABILITY=replica, because a standby has only what the storage has (docs/beyond-one-machine.md)',
  ])
  expect(standby({ LITESTREAM_REPLICA_URL: 'file:///backups' })).toEqual([
    'STANDBY is on, but LITESTREAM_REPLICA_URL is not an s3:// address: name an S3-compatible storage with conditional writes, because a folder cannot hold a lease (docs/beyond-one-machine.md)',
  ])
  expect(standby({ ENCRYPTION_KEYS: '' })).toEqual([
    'ENCRYPTION_KEYS is not set: STANDBY is on, and a standby needs the same keys; make one with: sgw secret',
  ])
  expect(standby({ STANDBY: 'maybe' })).toEqual(['STANDBY is "maybe": use one of: 0, 1, false, true, off, on'])
})

test('with a standby a missing message counts as not sent only after the lease and a call of the provider', () => {
  expect(standby({ RECONCILE_SETTLE: '19s' })).toEqual([
    'RECONCILE_SETTLE is shorter than PROVIDER_TIMEOUT and the 5 s of a lease together: give at least 20s, or messages could be sent twice after a takeover (docs/beyond-one-machine.md)',
  ])
  expect(standby({ RECONCILE_SETTLE: '6s', PROVIDER_TIMEOUT: '1s' })).toBe(true)
  expect(standby({ STANDBY: 'off', RECONCILE_SETTLE: '1s' })).toBe(false)
})
