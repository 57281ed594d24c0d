import { afterEach, beforeEach, expect, test } from 'bun:test'
import { silentLog } from '../../../src/core/log.ts'
import { watchEpochs } from '../../../src/operator/lease/standbys.ts'
import { readBackupSettings } from '../../../src/operator/backup/settings.ts'
import { awaitLease } from '../../../src/operator/lease/await-lease.ts'
import type { Candidate } from '../../../src/operator/lease/differences.ts'
import { HeldLease } from '../../../src/operator/lease/held-lease.ts'
import { type LeaseContent, LeaseObject } from '../../../src/operator/lease/lease-object.ts'
import { ObjectStore, describeClock } from '../../../src/operator/lease/object-store.ts'
import { renewInThread } from '../../../src/operator/lease/renew-in-thread.ts'
import type { Notice, Wish } from '../../../src/operator/lease/renewal.ts'
import { MIGRATIONS } from '../../../src/db/migrations.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { failureOf } from '../../support/process.ts'
import { renewHere } from '../../support/renew-here.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { until } from '../../support/world.ts'

let stub: S3Stub
beforeEach(() => void (stub = new S3Stub({ pageSize: 100 })))
afterEach(() => stub[Symbol.asyncDispose]())

const CANDIDATE = {
  url: 'https://sms.example.com',
  version: '1.2.0',
  keyIds: ['abcdef01'],
  schema: MIGRATIONS.at(-1)?.name ?? '',
  clientId: 'one',
  retention: 'all',
  fork: null,
}

const settings = () => readBackupSettings({ values: stub.environment(), readFile: () => '' }, '/data/sgw.db')

/** A gateway with a clock of its own, which waits for the lease or holds it. */
class Machine implements Disposable {
  readonly clock: ManualClock = manualClock()
  /** That of the thread which renews its lease. */
  readonly renewalClock: ManualClock = manualClock()
  readonly object = new LeaseObject(new ObjectStore(settings()))
  readonly #ended = new AbortController()
  lease: HeldLease | null = null
  lost: string | null = null
  /** Whether its event loop is held, so that it says nothing to the thread. */
  isBusy = false
  /** How often it was told that its lease was written. */
  heard = 0
  /** How often it has read the lease. */
  looks = 0
  /** What it has said of the storage. */
  readonly warnings: string[] = []
  knownEpoch = 0

  constructor(
    readonly name: string,
    readonly other: Partial<Candidate> = {},
  ) {}

  /** Resolves when it holds the lease; rejects if it refuses to stand by. */
  async standBy(): Promise<void> {
    const candidate = { ...CANDIDATE, ...this.other, holder: this.name }
    const { object, clock } = this
    const { signal } = this.#ended
    const seen = (): void => void this.looks++
    const taken = await awaitLease({
      object,
      candidate,
      knownEpoch: this.knownEpoch,
      clock,
      log: { ...silentLog, warn: (_, text) => void this.warnings.push(text) },
      signal,
      seen,
    })
    if (taken === null) return
    const lost = (why: string): void => void (this.lost = why)
    const give = (): void => undefined
    const start = renewHere(settings(), { object, etag: taken.etag, clock: this.renewalClock })
    const renewUnlessBusy: typeof start = (first, hear) => {
      const tell = start(first, (notice) => (hear(notice), void this.heard++))
      return (wish) => void (this.isBusy || tell(wish))
    }
    const options = { clock, log: silentLog, replicaTimeoutMs: 1000, renew: renewUnlessBusy, lost, give }
    this.lease = new HeldLease({ taken, object, ...options })
  }

  /** Lets time pass, and waits until this machine has looked. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms && this.lease === null; passed += 500) {
      const { looks } = this
      this.clock.advance(500)
      await until(() => this.looks > looks || this.lease !== null)
    }
  }

  [Symbol.dispose](): void {
    this.#ended.abort()
    this.clock.advance(1000)
  }
}

const etag = (): string => stub.bucket.get('sgw/lease.json').etag

/** Lets the holder renew its lease once. */
async function renew(machine: Machine): Promise<void> {
  const [before, { heard }] = [etag(), machine]
  machine.clock.advance(1000)
  await until(() => machine.heard > heard)
  expect(etag()).not.toBe(before)
}

test('a standby waits as long as the lease is renewed, and takes it with a higher epoch when it has not been for 5 s', async () => {
  using one = new Machine('one:3000')
  using two = new Machine('two:3000')
  await one.standBy()
  const waiting = two.standBy()
  await until(() => two.looks > 0)
  for (let second = 0; second < 20; second++) {
    await renew(one)
    await two.pass(1000)
  }
  expect([one.lease?.epoch, two.lease, one.lost]).toEqual([1, null, null])
  await two.pass(4000)
  expect(two.lease).toBeNull()
  await two.pass(1500)
  await waiting
  expect(two.lease).toMatchObject({ epoch: 2, holder: 'two:3000' })
})

test('a holder that was paused learns of its loss by the check after its next upload, and by its next renewal, whatever its clock says', async () => {
  for (const how of ['check', 'renewal'] as const) {
    stub.bucket.clear()
    using one = new Machine('one:3000')
    using two = new Machine('two:3000')
    await one.standBy()
    await one.lease?.check()
    const waiting = two.standBy()
    await until(() => two.looks > 0)
    await two.pass(6000)
    await waiting
    expect([one.lease?.ageMs(), one.lease?.granted(), one.lost]).toEqual([0, undefined, null])
    if (how === 'check') expect(await failureOf(one.lease?.check() ?? Promise.resolve())).toBeInstanceOf(Error)
    else one.clock.advance(1000)
    await until(() => one.lost !== null)
    expect(one.lost).toBe('two:3000 has taken it with epoch 2')
    await two.lease?.check()
    expect(two.lost).toBeNull()
  }
})

test('calls are granted for 5 s after the start of the last renewal, then wait for the next one', async () => {
  using one = new Machine('one:3000')
  await one.standBy()
  stub.fault = 'slow down'
  one.clock.advance(4999)
  expect(one.lease?.granted()).toBeUndefined()
  one.clock.advance(1)
  const granted = one.lease?.granted()
  expect(granted).toBeInstanceOf(Promise)
  let isGranted = false
  void granted?.then(() => (isGranted = true))
  await Bun.sleep(5)
  expect(isGranted).toBe(false)
  stub.fault = 'none'
  await until(() => (one.clock.advance(1000), isGranted))
  expect(one.lost).toBeNull()
})

test('a lease that was lost grants nothing any more', async () => {
  using one = new Machine('one:3000')
  await one.standBy()
  stub.bucket.delete('sgw/lease.json')
  await failureOf(one.lease?.check() ?? Promise.resolve())
  expect(one.lost).toBe('the lease object is gone')
  const granted = one.lease?.granted()
  expect(await Promise.race([granted, Bun.sleep(20).then(() => 'waits')])).toBe('waits')
})

test('a check waits for a storage that does not answer, and fails when its time is over, without losing the lease', async () => {
  using one = new Machine('one:3000')
  await one.standBy()
  stub.fault = 'slow down'
  const failure = failureOf(one.lease?.check() ?? Promise.resolve())
  let isOver = false
  void failure.then(() => (isOver = true))
  await until(() => (one.clock.advance(50), isOver))
  expect(await failure).toMatchObject({ message: expect.stringContaining('503') })
  expect(one.lost).toBeNull()
  stub.fault = 'none'
  await one.lease?.check()
})

test('a lease that is given is taken at once, with its epoch raised', async () => {
  using one = new Machine('one:3000')
  using two = new Machine('two:3000')
  await one.standBy()
  const waiting = two.standBy()
  await until(() => two.looks > 0)
  await one.lease?.release()
  await two.pass(1000)
  await waiting
  expect([two.lease?.epoch, one.lost]).toEqual([2, null])
})

test('after an outage of the storage the holder gets its time again', async () => {
  using one = new Machine('one:3000')
  using two = new Machine('two:3000')
  await one.standBy()
  const waiting = two.standBy()
  await until(() => two.looks > 0)
  stub.fault = 'slow down'
  const { refusals } = stub
  await until(() => (two.clock.advance(500), refusals.length > 20))
  stub.fault = 'none'
  const { looks } = two
  await until(() => (two.clock.advance(500), two.looks > looks))
  await two.pass(4000)
  await renew(one)
  await two.pass(4000)
  expect([two.lease, one.lost]).toEqual([null, null])
  await two.pass(2000)
  await waiting
  expect(two.lease?.epoch).toBe(2)
})

test('requests that are lost now and then give a holder that is gone no more time', async () => {
  using one = new Machine('one:3000')
  using two = new Machine('two:3000')
  await one.standBy()
  const waiting = two.standBy()
  await until(() => two.looks > 0)
  for (let second = 0; second < 2; second++) {
    let lost = 0
    stub.loses = () => lost++ < 3
    const said = two.warnings.length
    two.clock.advance(500)
    await until(() => two.warnings.length > said)
    await two.pass(1500)
  }
  expect(two.lease).toBeNull()
  await two.pass(1500)
  await waiting
  expect([two.lease?.epoch, two.clock.monotonic() < 6000]).toEqual([2, true])
})

test('a machine that begins to stand by while requests are lost sees the lease before it has tried the storage', async () => {
  using one = new Machine('one:3000')
  using two = new Machine('two:3000')
  await one.standBy()
  stub.loses = ({ method }) => method === 'PUT'
  const waiting = two.standBy()
  await until(() => two.looks > 0)
  await two.pass(6000)
  expect(two.lease).toBeNull()
  expect(two.warnings).toEqual(['the object storage fails, trying again'])
  stub.loses = () => false
  two.clock.advance(500)
  await waiting
  expect(two.lease).toMatchObject({ epoch: 2 })
})

test('without the object the highest epoch that has a copy counts, plus one', async () => {
  stub.bucket.put('sgw/e41/ltx/1', new Uint8Array(1))
  stub.bucket.put('sgw/e9/ltx/1', new Uint8Array(1))
  using one = new Machine('one:3000')
  await one.standBy()
  expect(one.lease?.epoch).toBe(42)
})

test('the epoch only grows: an older object that was put back, and a list or a database that knows more, are all exceeded', async () => {
  using one = new Machine('one:3000')
  await one.standBy()
  const first = stub.bucket.get('sgw/lease.json').body
  await one.lease?.release()
  stub.bucket.put('sgw/e7/ltx/1', new Uint8Array(1))
  stub.bucket.put('sgw/lease.json', first)
  using two = new Machine('two:3000')
  const waiting = two.standBy()
  await until(() => two.looks > 0)
  await two.pass(6000)
  await waiting
  expect(two.lease?.epoch).toBe(8)
  await two.lease?.release()
  stub.bucket.put('sgw/lease.json', first)
  using three = new Machine('three:3000')
  three.knownEpoch = 30
  const last = three.standBy()
  await until(() => three.looks > 0)
  await three.pass(6000)
  await last
  expect(three.lease?.epoch).toBe(31)
})

test('a holder that reads an older version of its own lease twice, or finds a later epoch, has lost it', async () => {
  for (const how of ['put back', 'later epoch'] as const) {
    stub.bucket.clear()
    using one = new Machine('one:3000')
    await one.standBy()
    const older = stub.bucket.get('sgw/lease.json').body
    await renew(one)
    await one.lease?.check()
    expect(one.lost).toBeNull()
    if (how === 'put back') {
      stub.bucket.put('sgw/lease.json', older)
      await failureOf(one.lease?.check() ?? Promise.resolve())
      expect(one.lost).toContain('an older version of lease.json')
    } else if (one.lease !== null) {
      stub.bucket.put('sgw/e2/ltx/1', new Uint8Array(1))
      void watchEpochs(one.lease)
      one.clock.advance(10_000)
      await until(() => one.lost !== null)
      expect(one.lost).toBe('epoch 2 has begun')
    }
  }
})

test.each([3_600_000, -3_600_000])(
  'a standby whose clock is an hour off waits, and takes the lease once the clock is right (%d ms)',
  async (aheadMs) => {
    stub.aheadMs = aheadMs
    using one = new Machine('one:3000')
    const waiting = one.standBy()
    await until(() => (one.clock.advance(500), stub.refusals.length > 10))
    expect(one.lease).toBeNull()
    stub.aheadMs = 0
    await until(() => (one.clock.advance(500), one.lease !== null))
    await waiting
    expect(one.lease?.epoch).toBe(1)
  },
)

test('a clock that is two minutes off is no reason to take a lease either, although the storage performs its requests', async () => {
  stub.aheadMs = 120_000
  using one = new Machine('one:3000')
  const waiting = one.standBy()
  await until(() => (one.clock.advance(500), one.looks > 5))
  expect([one.lease, stub.bucket.keys]).toEqual([null, []])
  expect(describeClock(one.object.store)).toMatch(/^this machine's clock is 1[12]\d s behind the storage's/)
  stub.aheadMs = 0
  await until(() => (one.clock.advance(500), one.lease !== null))
  await waiting
})

test('a storage that refuses a standby which it has served is waited for, and a start that it never served ends with 78', async () => {
  using one = new Machine('one:3000')
  using two = new Machine('two:3000')
  await one.standBy()
  const waiting = two.standBy()
  await until(() => two.looks > 0)
  stub.fault = 'refuse'
  const { refusals } = stub
  await until(() => (two.clock.advance(500), refusals.length > 5))
  using three = new Machine('three:3000')
  expect(await failureOf(three.standBy())).toMatchObject({ exitCode: 78 })
  stub.fault = 'none'
  await one.lease?.release()
  await until(() => (two.clock.advance(500), two.lease !== null))
  await waiting
  expect(two.lease?.epoch).toBe(2)
})

test('a storage whose lists lag is waited for by a machine that it has served before, and refused at a first start', async () => {
  let [isLagging, hidden] = [true, 0]
  const hides = (name: string): boolean => isLagging && name.includes('check-') && ++hidden > 0
  await using lagging = new S3Stub({ pageSize: 100, hides })
  const before = stub
  stub = lagging
  using first = new Machine('one:3000')
  expect(await failureOf(first.standBy())).toMatchObject({
    exitCode: 78,
    message: expect.stringContaining('it does not list what was just written'),
  })
  using again = new Machine('one:3000')
  again.knownEpoch = 1
  const waiting = again.standBy()
  await until(() => (again.clock.advance(500), hidden > 5))
  expect([again.lease, lagging.bucket.keys.includes('sgw/lease.json')]).toEqual([null, false])
  isLagging = false
  await until(() => (again.clock.advance(500), again.lease !== null))
  await waiting
  expect(again.lease?.epoch).toBe(2)
  stub = before
})

test('a read or a list that fails twice is made a third time, and nobody notices', async () => {
  using one = new Machine('one:3000')
  await one.standBy()
  let lost = 0
  stub.loses = () => lost++ < 2
  expect((await one.object.read())?.content.epoch).toBe(1)
  lost = 0
  expect(await one.object.store.folders('e')).toEqual([])
  lost = 0
  expect((await one.object.store.list('lease')).map(({ key }) => key)).toEqual(['lease.json'])
})

test('a gateway with another address, without the key of the holder, or too old for its database does not stand by', async () => {
  using one = new Machine('one:3000')
  await one.standBy()
  const refused = async (other: Partial<Candidate>): Promise<unknown> => {
    using two = new Machine('two:3000', other)
    return await failureOf(two.standBy())
  }
  expect(await refused({ url: 'https://other.example.com' })).toMatchObject({
    exitCode: 78,
    message: expect.stringContaining('PUBLIC_URL is https://other.example.com, but https://sms.example.com'),
  })
  expect(await refused({ keyIds: ['00000000'] })).toMatchObject({
    exitCode: 78,
    message: expect.stringContaining('ENCRYPTION_KEYS lacks the newest key (abcdef01)'),
  })
  await one.lease?.release()
  await one.object.write(
    { ...CANDIDATE, keyId: 'abcdef01', copied: 0, mayBeSent: false, epoch: 1, holder: '', schema: '9999_later' },
    etag(),
  )
  expect(await refused({})).toMatchObject({ exitCode: 78, message: expect.stringContaining('newer than this program') })
  expect((await one.object.read())?.content).toMatchObject({ epoch: 1, holder: '' })
  using rotated = new Machine('three:3000', { keyIds: ['11111111', 'abcdef01'] })
  await one.object.write({ ...CANDIDATE, keyId: 'abcdef01', copied: 0, mayBeSent: false, epoch: 1, holder: '' }, etag())
  await rotated.standBy()
  expect(rotated.lease?.epoch).toBe(2)
})

test('a lease that nobody has written for a minute says that what waits may have been sent, until its epoch has a copy', async () => {
  const releasedFor = async (ageMs: number): Promise<LeaseContent | undefined> => {
    stub.bucket.clear()
    using one = new Machine('one:3000')
    using two = new Machine('two:3000')
    await one.standBy()
    one.lease?.noteCopy()
    await until(async () => (await one.object.read())?.content.copied === 1)
    await one.lease?.release()
    stub.bucket.get('sgw/lease.json').modifiedAt = new Date(Date.now() - ageMs)
    await two.standBy()
    return (await two.object.read())?.content
  }
  expect(await releasedFor(0)).toMatchObject({ mayBeSent: false })
  expect(await releasedFor(55_000)).toMatchObject({ mayBeSent: false })
  expect(await releasedFor(65_000)).toMatchObject({ mayBeSent: true })
  expect(await releasedFor(Number.NaN)).toMatchObject({ mayBeSent: true })

  using third = new Machine('three:3000')
  stub.bucket.put('sgw/lease.json', stub.bucket.get('sgw/lease.json').body)
  const waiting = third.standBy()
  await until(() => third.looks > 0)
  await third.pass(6000)
  await waiting
  expect((await third.object.read())?.content).toMatchObject({ epoch: 3, copied: 1, mayBeSent: true })
  third.lease?.noteCopy()
  await until(async () => (await third.object.read())?.content.copied === 3)
  expect((await third.object.read())?.content).toMatchObject({ mayBeSent: false })
})

test('a storage that ignores conditions is refused before a lease is written', async () => {
  await using careless = new S3Stub({ pageSize: 100, ignoresConditions: true })
  const before = stub
  stub = careless
  using one = new Machine('one:3000')
  expect(await failureOf(one.standBy())).toMatchObject({
    exitCode: 78,
    message: expect.stringContaining('cannot hold the lease'),
  })
  expect(careless.bucket.keys).toEqual([])
  stub = before
})

test('while the process says nothing its lease is renewed for it: for as long as a start takes, and for 15 s once it works', async () => {
  using one = new Machine('one:3000')
  await one.standBy()
  const renewAlone = async (): Promise<void> => {
    const [before, { heard }] = [etag(), one]
    one.renewalClock.advance(2000)
    await until(() => one.heard > heard)
    expect(etag()).not.toBe(before)
  }
  for (let times = 0; times < 20; times++) await renewAlone()
  one.lease?.noteWorking()
  await renew(one)
  for (let times = 0; times < 7; times++) await renewAlone()
  expect(await one.object.read()).toMatchObject({ content: { holder: 'one:3000' } })
  await renewAlone()
  expect(await one.object.read()).toMatchObject({ content: { holder: '', epoch: 1 } })
  const free = etag()
  one.renewalClock.advance(2000)
  await one.lease?.check()
  expect([etag(), one.lost]).toEqual([free, null])
  await renew(one)
  expect(await one.object.read()).toMatchObject({ content: { holder: 'one:3000', epoch: 1 } })
})

test('a process that says something again after another gateway has taken its lease has lost it', async () => {
  using one = new Machine('one:3000')
  using two = new Machine('two:3000')
  await one.standBy()
  one.lease?.noteWorking()
  await renew(one)
  const { heard } = one
  one.renewalClock.advance(15_000)
  await until(() => one.heard > heard)
  await two.standBy()
  expect([two.lease?.epoch, one.lost]).toEqual([2, null])
  one.clock.advance(1000)
  await until(() => one.lost !== null)
  expect(one.lost).toBe('two:3000 has taken it with epoch 2')
})

test('what was renewed for a silent process counts from the start of that renewal, by its own clock', async () => {
  using one = new Machine('one:3000')
  await one.standBy()
  await renew(one)
  one.isBusy = true
  one.clock.advance(4000)
  expect(one.lease?.ageMs()).toBe(4000)
  one.renewalClock.advance(3000)
  await until(() => one.lease?.ageMs() === 1000)
})

test('a thread renews the lease while the process says nothing, and not any more once it is released', async () => {
  const object = new LeaseObject(new ObjectStore(settings()))
  const content = { ...CANDIDATE, keyId: 'abcdef01', epoch: 1, holder: 'one:3000', copied: 0, mayBeSent: false }
  const first = await object.write(content, null)
  const from = { settings: settings(), writer: object.writer, written: object.written, etag: first ?? '' }
  const saidAt = { monotonic: performance.now(), now: Date.now() }
  const heard: Notice[] = []
  const wish: Wish = { content, state: 'held', saidAt, patienceMs: Infinity }
  const tell = renewInThread(from, wish, (notice) => void heard.push(notice))
  await until(() => heard.length > 0)
  expect(heard[0]).toMatchObject({ type: 'renewed', written: 2 })
  expect(etag()).not.toBe(first)
  tell({ ...wish, state: 'released' })
  await until(() => heard.at(-1)?.type === 'released')
  expect(await object.read()).toMatchObject({ content: { epoch: 1, holder: '' } })
})
