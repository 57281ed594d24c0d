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
    ['15s', 'is longer than 14s: requests would be cut before they are answered'],
  ] as const)
    expect(read({ REPLICA_TIMEOUT })).toEqual([`REPLICA_TIMEOUT ${problem}`])
})
