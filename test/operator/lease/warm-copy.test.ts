import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../../../src/core/log.ts'
import { readBackupSettings } from '../../../src/operator/backup/settings.ts'
import type { SeenLease } from '../../../src/operator/lease/lease-object.ts'
import { WarmCopy } from '../../../src/operator/lease/warm-copy.ts'
import { BASE_ENVIRONMENT } from '../../support/environment.ts'
import { until } from '../../support/world.ts'

// Here a few lines of shell follow. test/server/standby/warm-copy.long.ts has Litestream, and gateways.

/** It copies a database, and from then on has all that is stored. */
const follower = (folder: string): string => `#!/bin/sh
for word; do file=$last; last=$word; done
while [ -e ${folder}/waits ]; do sleep 0.02; done
[ -e "$file" ] || cp ${folder}/source "$file"
echo "$6" >> ${folder}/intervals
while [ ! -e ${folder}/ends ]; do
  # A program that the shell starts may outlive it, so it starts one only if there is news.
  read -r stored < ${folder}/stored
  [ "$stored" = "$noted" ] || { echo "$stored" > "$file-txid.tmp" && mv "$file-txid.tmp" "$file-txid"; }
  noted=$stored
  sleep 0.02
done
rm ${folder}/ends
echo 'Error: no space left on device' >&2
exit 1
`

const SHARED = { holder: 'a:3000', url: '', keyId: '', schema: '', clientId: '', retention: '', mayBeSent: false }

const leaseOf = (epoch: number, copied: number, writer = 'one'): SeenLease => ({
  content: { ...SHARED, epoch, copied, nonce: `${writer}.1.${crypto.randomUUID()}` },
  etag: '',
  storedAt: 0,
  ageMs: 0,
})

const transaction = (n: number): string => n.toString(16).padStart(16, '0')

class World implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'sgw-warm-copy-'))
  readonly target = this.path('taken')
  readonly reasons: unknown[] = []

  constructor() {
    writeFileSync(this.path('follower'), follower(this.folder), { mode: 0o700 })
    using source = new Database(this.path('source'))
    source.run('CREATE TABLE messages (seq INTEGER PRIMARY KEY, created_at INTEGER, direction TEXT)')
    source.run(`INSERT INTO messages (created_at, direction) VALUES (1, 'outbound'), (2, 'inbound')`)
    this.store(5)
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** A standby that has seen the lease of epoch 3, and has a copy of transaction 5. */
  async standby(): Promise<WarmCopy> {
    const values = {
      ...BASE_ENVIRONMENT,
      LITESTREAM_COMMAND: this.path('follower'),
      LITESTREAM_REPLICA_URL: 's3://backups/sgw',
    }
    const settings = readBackupSettings({ values, readFile: () => '' }, this.path('sgw.db'))
    const warn = ({ reason }: { reason?: unknown }): void => void this.reasons.push(reason)
    const warm = new WarmCopy(settings, { ...silentLog, warn })
    warm.note(leaseOf(3, 3), 0)
    if (!this.waits) await this.reached(5)
    return warm
  }

  /** Whether the storage gives no copy yet. */
  get waits(): boolean {
    return existsSync(this.path('waits'))
  }

  set waits(value: boolean) {
    if (value) writeFileSync(this.path('waits'), '')
    else rmSync(this.path('waits'))
  }

  /** The storage has transactions up to this one. */
  store(n: number): void {
    writeFileSync(this.path('stored.next'), transaction(n))
    renameSync(this.path('stored.next'), this.path('stored'))
  }

  /** What is kept beside the database. */
  get kept(): string[] {
    return readdirSync(this.folder).filter((name) => name.startsWith('sgw.db.following-'))
  }

  async reached(n: number): Promise<void> {
    const noted = (): string[] => this.kept.filter((name) => name.endsWith('-txid'))
    await until(() => noted().some((name) => readFileSync(this.path(name), 'utf8').trim() === transaction(n)))
  }

  get isTaken(): boolean {
    return readdirSync(this.folder).includes('taken')
  }

  [Symbol.dispose](): void {
    writeFileSync(this.path('ends'), '')
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const newest = (n: number) => () => Promise.resolve(transaction(n))

test('a copy that is at the newest transaction is taken, and the follower has ended before the storage is asked', async () => {
  using world = new World()
  const warm = await world.standby()
  expect(warm.describe()).toBe(`of epoch 3, up to transaction ${transaction(5)} so far`)
  const rows = await warm.take(3, world.target, async () => {
    world.store(9)
    await Bun.sleep(100)
    return transaction(5)
  })
  expect([rows, world.isTaken, world.kept, world.reasons]).toEqual([2, true, [], []])
})

test('a copy that is behind is brought to the newest transaction, also if that changes meanwhile', async () => {
  using world = new World()
  const warm = await world.standby()
  let asked = 0
  const rows = await warm.take(3, world.target, async () => {
    const n = 6 + Math.min(1, asked++)
    world.store(n)
    return transaction(n)
  })
  expect([rows, world.isTaken, world.kept, asked]).toEqual([2, true, [], 3])
})

test('a copy that is not complete yet is waited for, because a restore would begin where that began', async () => {
  using world = new World()
  world.waits = true
  const warm = await world.standby()
  const taken = warm.take(3, world.target, newest(5))
  world.waits = false
  expect([await taken, world.isTaken, world.kept, world.reasons]).toEqual([2, true, [], []])
})

test('a follower that looks each second is let go on, because another one would have to list everything first', async () => {
  using world = new World()
  const warm = await world.standby()
  warm.note(leaseOf(3, 3), 2000)
  const intervals = (): string[] => readFileSync(world.path('intervals'), 'utf8').trim().split('\n')
  await until(() => intervals().length === 2)
  let asked = 0
  const rows = await warm.take(3, world.target, () => {
    if (asked++ === 0) world.store(6)
    return Promise.resolve(transaction(6))
  })
  expect([rows, world.isTaken, world.reasons, intervals()]).toEqual([2, true, [], ['10000ms', '1000ms']])
})

test('a copy that has more than the storage, or is far behind it, is thrown away', async () => {
  for (const [stored, n, reason] of [
    [5, 4, `it has transaction ${transaction(5)}, and the storage ${transaction(4)}`],
    [7, 6, `it has transaction ${transaction(7)}, and the storage ${transaction(6)}`],
    // A small database is restored in the time of some forty transactions.
    [46, 46, `it has transaction ${transaction(5)}, and a restore would reach ${transaction(46)} sooner`],
  ] as const) {
    using world = new World()
    const warm = await world.standby()
    const taken = warm.take(3, world.target, async () => {
      world.store(stored)
      return transaction(n)
    })
    expect([await taken, world.isTaken, world.kept, world.reasons]).toEqual([null, false, [], [reason]])
  }
})

test('a copy of nothing, of another epoch, of a storage that goes on and on, or with damaged pages is thrown away', async () => {
  using world = new World()
  const first = await world.standby()
  expect(await first.take(3, world.target, () => Promise.resolve(null))).toBeNull()
  const second = await world.standby()
  expect(await second.take(2, world.target, newest(5))).toBeNull()
  const third = await world.standby()
  let n = 5
  const more = (): Promise<string> => {
    world.store(++n)
    return Promise.resolve(transaction(n))
  }
  expect(await third.take(3, world.target, more)).toBeNull()
  world.store(5)
  writeFileSync(world.path('source'), readFileSync(world.path('source')).fill(7, 4096))
  const fourth = await world.standby()
  expect(await fourth.take(3, world.target, newest(5))).toBeNull()
  expect([world.isTaken, world.kept, world.reasons.length]).toEqual([false, [], 4])
})

test('errors of the storage are those of the takeover, and leave nothing', async () => {
  using world = new World()
  const warm = await world.standby()
  const failing = (): Promise<never> => Promise.reject(new Error('no connection'))
  expect(await warm.take(3, world.target, failing).catch(String)).toBe('Error: no connection')
  expect([world.isTaken, world.kept]).toEqual([false, []])
})

test('a copy is thrown away as soon as the lease is of another epoch or writer or gone, and a new one is begun once that has a copy', async () => {
  using world = new World()
  const warm = await world.standby()
  const isNew = (before: string[]): boolean =>
    world.kept.length > 0 && !world.kept.some((name) => before.includes(name))
  for (const lease of [leaseOf(4, 3), leaseOf(3, 3, 'two'), null]) {
    const before = world.kept
    warm.note(lease, 0)
    if (lease?.content.copied === lease?.content.epoch && lease !== null) {
      await until(() => isNew(before))
      // Its shell has started `cp`, which would outlive it and make the file anew.
      await world.reached(5)
    } else await until(() => world.kept.length === 0)
    const between = world.kept
    warm.note(leaseOf(3, 3), 0)
    await until(() => isNew(between))
    await world.reached(5)
  }
  await warm.stop()
  expect([world.kept, world.reasons]).toEqual([[], []])
})

test('while the lease is overdue the copy is looked after each second, for as long as a takeover is likely', async () => {
  using world = new World()
  const warm = await world.standby()
  const intervals = (): string[] => readFileSync(world.path('intervals'), 'utf8').trim().split('\n')
  const [lease, kept] = [leaseOf(3, 3), world.kept]
  const after = (unchangedMs: number, count: number): Promise<unknown> => {
    warm.note(lease, unchangedMs)
    warm.note(lease, unchangedMs)
    return until(() => intervals().length === count)
  }
  await after(1500, 1)
  await after(2000, 2)
  await after(14_500, 2)
  await after(15_000, 3)
  expect(intervals()).toEqual(['10000ms', '1000ms', '10000ms'])
  expect(await warm.take(3, world.target, newest(5))).toBe(2)
  expect([kept.length, world.reasons]).toEqual([2, []])
})

test('a follower that ends leaves nothing, and its reason is said once; another is not begun at once', async () => {
  using world = new World()
  const warm = await world.standby()
  writeFileSync(world.path('ends'), '')
  await until(() => world.reasons.length > 0 && world.kept.length === 0)
  warm.note(leaseOf(3, 3), 0)
  expect([world.reasons, world.kept]).toEqual([['no space left on device'], []])
  expect(() => warm.describe()).toThrow('none is kept ready (no space left on device)')
  expect(await warm.take(3, world.target, newest(5))).toBeNull()
})

test('what a standby that was killed has left is removed by the next one', async () => {
  using world = new World()
  writeFileSync(world.path('sgw.db.following-0a0a0a0a-txid'), transaction(5))
  writeFileSync(world.path('sgw.db.following-0a0a0a0a'), '')
  const warm = await world.standby()
  expect(world.kept.some((name) => name.includes('0a0a0a0a'))).toBe(false)
  await warm.stop()
})
