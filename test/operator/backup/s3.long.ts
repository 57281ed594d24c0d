import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from '../../../src/simulator/random.ts'
import {
  BackupLoad,
  crashAndRestore,
  missingOf,
  sentTexts,
  sentTwice,
  untilDrained,
} from '../../support/backup-loss.ts'
import { Deployment } from '../../support/deployment.ts'
import { LITESTREAM } from '../../support/litestream.ts'
import { temporaryFolder } from '../../support/process.ts'
import { PROJECT, finished } from '../../support/program.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { until } from '../../support/world.ts'

const ROUNDS = 2
/** Litestream uploads once a second. A busy machine may need longer. The load lasts longer than this. */
const MAX_LOSS_MS = 3000

test('after kills at random times, also during starts, and the loss of the volume, a restore from S3 sends nothing twice', async () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  const random = seededRandom(seed)
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  for (let round = 1; round <= ROUNDS; round++) {
    const { acknowledged, lost, lossMs } = await crashAndRestore(deployment, {
      label: `round ${round}`,
      loadMs: MAX_LOSS_MS + 500 + 1000 * random(),
      interruptedStartMs: 1200 * random(),
    })
    expect(acknowledged).toBeGreaterThan(lost)
    expect(lossMs).toBeLessThan(MAX_LOSS_MS)
  }
  await untilDrained(deployment)
  expect(await sentTwice(deployment)).toEqual([])
  await deployment.stop()
}, 90_000)

test('while the storage refuses or breaks connections, the gateway keeps accepting messages, and the backup catches up', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  await until(() => stub.bucket.keys.length > 0)

  const load = new BackupLoad(deployment, 'outage')
  stub.fault = 'slow down'
  await acceptsUntil(load, () => stub.refusals.filter((code) => code === 'SlowDown').length >= 3)
  await stub.goAway()
  await acceptsUntil(load, () => isKnownToBeBehind(deployment))
  stub.fault = 'answer lost'
  stub.comeBack()
  await acceptsUntil(load, () => stub.answersLost >= 2)
  await load.stop()

  stub.fault = 'none'
  await until(async () => (await check(deployment)).rows === load.acknowledged.length, 40_000)
  await until(async () => ((await backupOf(deployment)).lagMs ?? Infinity) < 5000, 10_000)
  await deployment.crash(true)
  deployment.loseVolume()
  await deployment.start({ REQUIRE_RESTORE: '1' })
  expect(await missingOf(deployment, load.acknowledged)).toEqual([])
  await untilDrained(deployment)
  expect(await sentTwice(deployment)).toEqual([])
}, 120_000)

test('messages that were queued at the last copy and sent after it are not sent again', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  const fault = { kind: 'respond', status: 503 }
  await deployment.simulator.control('fault', { route: 'sms', calls: null, fault })
  const load = new BackupLoad(deployment, 'queued')
  await acceptsUntil(load, () => load.acknowledged.length >= 20)
  await load.stop()
  const { length } = load.acknowledged
  await until(async () => (await check(deployment)).rows === length, 20_000)

  await stub.goAway()
  await deployment.simulator.control('clearFaults')
  await until(async () => (await sentTexts(deployment)).length === length, 20_000)
  await deployment.crash(false)
  deployment.loseVolume()
  stub.comeBack()
  await deployment.start({ REQUIRE_RESTORE: '1' })
  await untilDrained(deployment)
  expect(await sentTwice(deployment)).toEqual([])
  expect(await missingOf(deployment, load.acknowledged)).toEqual([])
}, 90_000)

test('the entry point and a drill read credentials from files', async () => {
  await using stub = new S3Stub()
  const { LITESTREAM_SECRET_ACCESS_KEY: secret = '', ...storage } = stub.environment()
  using folder = temporaryFolder()
  const file = folder.file('secret-access-key')
  writeFileSync(file, `${secret}\n`)
  await using deployment = await Deployment.create({ ...storage, LITESTREAM_SECRET_ACCESS_KEY_FILE: file })
  const twice = 'LITESTREAM_SECRET_ACCESS_KEY and LITESTREAM_SECRET_ACCESS_KEY_FILE are both set: keep one of them\n'
  expect(await deployment.enter({ LITESTREAM_SECRET_ACCESS_KEY: secret })).toMatchObject({ code: 78, stderr: twice })
  for (const [name, text, wrong] of [
    ['empty', '\n', 'is empty: put the value into it'],
    ['nowhere', null, 'cannot be read: check the path and its permissions'],
  ] as const) {
    const path = folder.file(name)
    if (text !== null) writeFileSync(path, text)
    const refused = await deployment.enter({ LITESTREAM_SECRET_ACCESS_KEY_FILE: path })
    const problem = `LITESTREAM_SECRET_ACCESS_KEY_FILE names "${path}", which ${wrong}\n`
    expect(refused).toMatchObject({ code: 78, stderr: problem })
  }
  await deployment.start()
  await until(async () => (await check(deployment)).ok, 20_000)
  const missing = { ...deployment.env(), LITESTREAM_SECRET_ACCESS_KEY_FILE: folder.file('nowhere') }
  expect(await finished(['sgw', 'restore', '--check'], missing)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('which cannot be read'),
  })
  await deployment.stop()
}, 60_000)

test('a prefix without a backup means an empty start, or an error with REQUIRE_RESTORE', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  const refused = await deployment.enter({ REQUIRE_RESTORE: '1' })
  expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('check LITESTREAM_REPLICA_URL') })
  await deployment.start()
  await until(() => stub.bucket.keys.some((key) => key.startsWith('sgw/')))
  await deployment.stop()
})

test('a drill reads a backup of several upload parts, leaves no file, and fails without credentials', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  mkdirSync(deployment.volume)
  using database = largeDatabase(deployment.database)
  const env = { ...deployment.env(), LITESTREAM_DATABASE: deployment.database }
  const replicate = [LITESTREAM, 'replicate', '-config', join(PROJECT, 'litestream.yml'), '-exec', 'sleep 2.5']
  await finished(replicate, env)
  database.close()
  expect(stub.bucket.keys.some((key) => stub.bucket.get(key).etag.endsWith('-3"'))).toBe(true)
  const before = readdirSync(deployment.volume)
  expect(await check(deployment)).toEqual({ ok: true, rows: 12, integrity: 'ok' })
  const wrong = { ...env, LITESTREAM_SECRET_ACCESS_KEY: 'guessed' }
  expect(await finished(['sgw', '--json', 'restore', '--check'], wrong)).toMatchObject({ code: 69, stdout: '' })
  expect(readdirSync(deployment.volume)).toEqual(before)
}, 40_000)

/** Waits until the condition holds and some more messages are accepted. */
async function acceptsUntil(load: BackupLoad, condition: () => boolean | Promise<boolean>): Promise<void> {
  await until(condition, 40_000)
  const before = load.acknowledged.length
  await until(() => load.acknowledged.length >= before + 5)
}

interface BackupStatus {
  lagMs: number | null
}

const backupOf = async (deployment: Deployment): Promise<BackupStatus> =>
  (await deployment.command<{ backup: BackupStatus }>('status')).backup

/** Litestream reports the time since its last upload. */
const isKnownToBeBehind = async (deployment: Deployment): Promise<boolean> =>
  ((await backupOf(deployment)).lagMs ?? 0) > 6000

/** Runs a drill. A failed drill (1) is no error here, because the first copy takes a moment. */
async function check(deployment: Deployment): Promise<{ ok: boolean; rows: number; integrity: string }> {
  const { code, stdout, stderr } = await finished(['sgw', '--json', 'restore', '--check'], deployment.env())
  if (code > 1) throw new Error(`The drill ended with ${code}: ${stderr}`)
  // Cron mails whatever stands there.
  if (code === 0) expect(stderr).toBe('')
  return JSON.parse(stdout)
}

/** Has 12 incompressible messages of one mebibyte each, because an upload of Litestream has parts of five. */
function largeDatabase(path: string): Database {
  const database = new Database(path, { create: true })
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE messages (seq INTEGER PRIMARY KEY, direction TEXT, created_at INTEGER, content BLOB)')
  for (let number = 0; number < 12; number++)
    database.run('INSERT INTO messages (content) VALUES (randomblob(1048576))')
  return database
}
