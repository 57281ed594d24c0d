import { afterEach, beforeEach, expect, test } from 'bun:test'
import { silentLog } from '../../../src/core/log.ts'
import { MIGRATIONS } from '../../../src/db/migrations.ts'
import type { Lease } from '../../../src/core/lease.ts'
import type { Gateway } from '../../../src/messages/gateway.ts'
import { standbyCannotTakeOver, standbyMissing } from '../../../src/operator/conditions/standby.ts'
import { readBackupSettings } from '../../../src/operator/backup/settings.ts'
import { awaitLease } from '../../../src/operator/lease/await-lease.ts'
import { checkStandbys } from '../../../src/operator/lease/doctor-lease.ts'
import { HeldLease } from '../../../src/operator/lease/held-lease.ts'
import { LeaseObject } from '../../../src/operator/lease/lease-object.ts'
import { ObjectStore } from '../../../src/operator/lease/object-store.ts'
import { announce, watchStandbys } from '../../../src/operator/lease/standbys.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { until } from '../../support/world.ts'

const HOUR_MS = 3_600_000
const NOBODY =
  'no other gateway is waiting now: a standby is seen within two minutes of its start, and an hour without one is a warning'
const URL = 'https://sms.example.com'

const candidate = (holder: string, url = URL) => ({
  holder,
  url,
  version: '1.2.0',
  keyIds: ['abcdef01'],
  schema: MIGRATIONS.at(-1)?.name ?? '',
  clientId: 'one',
  retention: 'all',
  fork: null,
})

let stub: S3Stub
/** How far the clock of the storage is ahead. */
let aheadMs = 0

beforeEach(() => {
  aheadMs = 0
  stub = new S3Stub({ pageSize: 100 })
  const put = stub.bucket.put.bind(stub.bucket)
  stub.bucket.put = (...words) => {
    const stored = put(...words)
    stored.modifiedAt = new Date(stored.modifiedAt.getTime() + aheadMs)
    return stored
  }
})
afterEach(() => stub[Symbol.asyncDispose]())

/** A holder that looks for standbys. `looked`: lets a minute pass, and waits until it has read the storage again. */
async function startHolder() {
  const clock = manualClock()
  const store = new ObjectStore(readBackupSettings({ values: stub.environment(), readFile: () => '' }, '/data/sgw.db'))
  const object = new LeaseObject(store)
  const { signal } = new AbortController()
  const taken = await awaitLease({
    knownEpoch: 0,
    object,
    candidate: candidate('one:3000'),
    clock,
    log: silentLog,
    signal,
  })
  if (taken === null) throw new Error('The lease was not taken')
  const ended = (): void => undefined
  const renew = () => ended
  const options = { taken, renew, object, clock, log: silentLog, replicaTimeoutMs: 1000, lost: ended, give: ended }
  const lease = new HeldLease(options)
  void watchStandbys(lease)
  await until(() => lease.standbys !== null)
  const looked = async (): Promise<void> => {
    const before = lease.standbys
    await object.write(taken.content, (await object.read())?.etag ?? '')
    clock.advance(60_000)
    await until(() => lease.standbys !== before)
  }
  return { lease, store, looked }
}

const say = async (store: ObjectStore, name: string, url = URL): Promise<void> => {
  const clock = manualClock()
  const said = new AbortController()
  void announce(store, candidate(name, url), clock, said.signal)
  await until(() => stub.bucket.keys.some((key) => key.includes(name.replace(':', '_'))))
  said.abort()
}

/** What doctor and alerts say of the others. */
async function conditionsOf(lease: Lease | null) {
  const round = { troubled: () => Promise.resolve([]) }
  const found = [standbyMissing, standbyCannotTakeOver].map(async ({ alert, find }) =>
    (await find({ lease } as Gateway, round)).map((one) => ({ alert, level: 'fail', ...one })),
  )
  return (await Promise.all(found)).flat()
}

test('the holder knows who would take over, and warns when nobody has for an hour', async () => {
  const { lease, store, looked } = await startHolder()
  expect(checkStandbys({ lease })).toBe(NOBODY)
  await say(store, 'two:3000')
  await looked()
  expect(checkStandbys({ lease })).toBe('two:3000')
  expect(await conditionsOf(lease)).toEqual([])
  aheadMs = HOUR_MS - 60_000
  await looked()
  expect([checkStandbys({ lease }), await conditionsOf(lease)]).toEqual([NOBODY, []])
  aheadMs = HOUR_MS + 60_000
  await looked()
  expect(await conditionsOf(lease)).toMatchObject([
    {
      alert: 'standby_missing',
      level: 'warn',
      what: 'No standby has been seen for an hour, so no gateway takes over if this machine dies',
    },
  ])
  await say(store, 'three:3000')
  await looked()
  expect(await conditionsOf(lease)).toEqual([])
})

test('a standby of an older version, or with another client or retention, is a failure and an alert before it is needed', async () => {
  const { lease, store, looked } = await startHolder()
  const others: [object, string][] = [
    [{ schema: undefined }, 'two:3000 could not take over: it is an older version, without migration'],
    [{ schema: '0018_attachments', version: '1.1.5' }, '(it has version 1.1.5)'],
    [{ clientId: 'two' }, 'RC_CLIENT_ID differs from that'],
    [{ retention: '30 days' }, 'MESSAGE_RETENTION_DAYS and EVENT_RETENTION are 30 days, but all at'],
  ]
  for (const [other, text] of others) {
    await store.put('standby/two_3000.json', JSON.stringify({ ...candidate('two:3000'), ...other }), 'anything')
    await looked()
    expect(await conditionsOf(lease)).toMatchObject([
      { alert: 'standby_cannot_take_over', level: 'fail', what: expect.stringContaining(text) },
    ])
  }
  await store.put(
    'standby/two_3000.json',
    JSON.stringify({ ...candidate('two:3000'), schema: '0099_later' }),
    'anything',
  )
  await looked()
  expect(await conditionsOf(lease)).toEqual([])
})

test('a standby that could not take over is a failure that says why', async () => {
  const { lease, store, looked } = await startHolder()
  await say(store, 'two:3000', 'https://other.example.com')
  await looked()
  const why = 'two:3000 could not take over: PUBLIC_URL is https://other.example.com, but https://sms.example.com'
  expect(await conditionsOf(lease)).toMatchObject([
    { alert: 'standby_cannot_take_over', level: 'fail', what: expect.stringContaining(why) },
  ])
})

test('what is no announcement is passed over, and without a lease there is nothing to say', async () => {
  const { lease, looked } = await startHolder()
  stub.bucket.put('sgw/standby/x.json', new TextEncoder().encode('{"holder":1}'))
  stub.bucket.put('sgw/standby/y.json', new TextEncoder().encode('no JSON'))
  await looked()
  expect(checkStandbys({ lease })).toBe(NOBODY)
  expect([await conditionsOf(null), checkStandbys({ lease: null })]).toEqual([
    [],
    'unknown: the object storage has not been read yet',
  ])
})
