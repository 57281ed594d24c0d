import { expect, test } from 'bun:test'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HAS_LITESTREAM, LITESTREAM } from '../../support/litestream.ts'
import { keptIn, reachedIn } from '../../support/standby/kept-copy.ts'
import { until } from '../../support/world.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// A standby keeps a copy of the database ready. Whatever becomes of that, a takeover begins with what is stored, and with nothing else. It needs
// Litestream 0.5.18; test/operator/lease/warm-copy.test.ts has the details.

const TAKEN = 'the copy that was kept ready is used'
const THROWN_AWAY = 'the copy that was kept ready is discarded'

const keptBy = ({ folder }: MachineOfGateway): string[] => keptIn(folder)

/** The processes that write the copy of a machine. */
function followersOf({ folder }: MachineOfGateway): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => commandOf(pid).includes(join(folder, 'sgw.db.following-'))).map(Number)
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** A machine that works with one message, and one that stands by with a copy of it. */
async function pair(extra: Record<string, string> = {}) {
  const gateways = await Gateways.create()
  const [one, two] = [gateways.machine('one'), gateways.machine('two')]
  await one.startUntil('ready')
  await one.connect()
  const ids = await one.send('before')
  await two.startUntil('standby', extra)
  return { gateways, one, two, ids }
}

const untilKept = (machine: MachineOfGateway): Promise<string> => until(() => reachedIn(machine.folder))

if (HAS_LITESTREAM) {
  test('a takeover begins with the copy that is kept ready, brought to the last transaction, and reads no complete copy', async () => {
    const { gateways, one, two, ids } = await pair()
    await using _ = gateways
    await untilKept(two)
    // What it has from now on it gets at the takeover.
    for (const pid of followersOf(two)) process.kill(pid, 'SIGSTOP')
    ids.push(...(await one.send('one', 'two', 'three')))
    const read: string[] = []
    gateways.stub.refuses = ({ method, url }) => {
      if (method === 'GET') read.push(new URL(url).pathname)
      return false
    }
    await one.json('lease', 'give')
    await two.untilState('ready')
    expect(two.output()).toContain(TAKEN)
    expect(await two.missing(ids)).toBe(0)
    expect(read.filter((path) => path.includes('/e1/0009/'))).toEqual([])
    expect([keptBy(two), followersOf(two)]).toEqual([[], []])
  }, 120_000)

  test('a copy that has more than the storage is thrown away', async () => {
    const { gateways, one, two, ids } = await pair()
    await using _ = gateways
    await one.kill()
    const reached = await untilKept(two)
    const { bucket } = gateways.stub
    // An older state of the bucket is put back.
    const before = (BigInt(`0x${reached}`) - 1n).toString(16).padStart(16, '0')
    for (const key of bucket.keys) if ((/-([\da-f]{16})\.ltx$/.exec(key)?.[1] ?? '') > before) bucket.delete(key)
    await two.untilState('ready')
    // Who sees it first, the takeover or the follower, is a matter of time.
    expect(two.output()).toMatch(new RegExp(`${THROWN_AWAY}|no copy of the database is kept ready`))
    expect([two.output().includes(TAKEN), await two.missing(ids)]).toEqual([false, 0])
  }, 120_000)

  test('a follower that was killed, or whose disk is full, is said, and the takeover reads a complete copy', async () => {
    const { gateways, one, two, ids } = await pair()
    await using _ = gateways
    await untilKept(two)
    for (const pid of followersOf(two)) process.kill(pid, 'SIGKILL')
    await until(() => two.output().includes('no copy of the database is kept ready') && keptBy(two).length === 0)
    await one.kill()
    await two.untilState('ready')
    expect([two.output().includes(TAKEN), await two.missing(ids)]).toEqual([false, 0])
    // A standby whose files may have no more than 100 blocks while it follows.
    const limited = join(one.folder, 'litestream')
    const script = `#!/bin/sh\ncase "$*" in *' -f '*) ulimit -f 100 ;; esac\nexec ${LITESTREAM} "$@"\n`
    writeFileSync(limited, script, { mode: 0o700 })
    await one.startUntil('standby', { LITESTREAM_COMMAND: limited })
    await until(() => one.output().includes('no copy of the database is kept ready') && keptBy(one).length === 0)
    await two.kill()
    await one.untilState('ready')
    expect([one.output().includes(TAKEN), await one.missing(ids)]).toEqual([false, 0])
  }, 120_000)

  test('a standby that is killed while it follows leaves no process, and its next start takes over', async () => {
    const { gateways, one, two, ids } = await pair()
    await using _ = gateways
    await untilKept(two)
    process.kill(two.pid, 'SIGKILL')
    await two.ended()
    await until(() => followersOf(two).length === 0)
    const left = keptBy(two)
    await two.startUntil('standby')
    await untilKept(two)
    expect(keptBy(two).filter((name) => left.includes(name))).toEqual([])
    await one.kill()
    await two.untilState('ready')
    expect([two.output().includes(TAKEN), await two.missing(ids)]).toEqual([true, 0])
  }, 120_000)

  test('when another gateway takes over, a third one keeps a copy of that one', async () => {
    const { gateways, one, two, ids } = await pair()
    await using _ = gateways
    await untilKept(two)
    const three = gateways.machine('three')
    await one.json('lease', 'give')
    await two.untilState('ready')
    await three.startUntil('standby')
    await untilKept(three)
    const ofTwo = keptBy(three)
    await one.startUntil('standby')
    await until(() => reachedIn(one.folder))
    // Three is held while one takes over and sends, so its copy is of an epoch that has ended.
    process.kill(three.pid, 'SIGSTOP')
    await two.kill()
    await one.untilState('ready')
    ids.push(...(await one.send('later')))
    process.kill(three.pid, 'SIGCONT')
    await until(() => reachedIn(three.folder) !== null && !keptBy(three).some((name) => ofTwo.includes(name)))
    await one.kill()
    await three.untilState('ready')
    expect([three.output().includes(TAKEN), await three.missing(ids), gateways.lease.epoch]).toEqual([true, 0, 4])
  }, 120_000)

  test('a location that was written anew is read anew, although epoch and transactions look like a continuation', async () => {
    const { gateways, one, two, ids: before } = await pair()
    await using _ = gateways
    const { bucket } = gateways.stub
    const elsewhere = gateways.machine('elsewhere')
    await elsewhere.startUntil('ready', { LITESTREAM_REPLICA_URL: 's3://backups/elsewhere' })
    await elsewhere.connect()
    const ids = await elsewhere.send(...Array.from({ length: 20 }, (_value, n) => `text ${n}`))
    await elsewhere.stop()
    await untilKept(two)
    await one.kill()
    for (const key of bucket.keys) if (key.startsWith('sgw/')) bucket.delete(key)
    for (const key of bucket.keys)
      if (key.startsWith('elsewhere/')) bucket.put(key.replace('elsewhere/', 'sgw/'), bucket.get(key).body)
    await two.untilState('ready')
    // It may use a copy of what is there now, and of nothing else.
    expect([await two.missing(ids), await two.missing(before), gateways.lease.epoch]).toEqual([0, before.length, 2])
  }, 120_000)
} else {
  test('without Litestream 0.5.18 there is no standby', async () => {
    await using gateways = await Gateways.create()
    expect((await gateways.machine('one').enter()).code).toBe(78)
  })
}
