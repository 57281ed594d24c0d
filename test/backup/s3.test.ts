import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from '../../src/simulator/random.ts'
import { Load, crashAndRestore, missingOf, sentTexts, sentTwice, untilDrained } from '../support/backup-loss.ts'
import { Deployment } from '../support/deployment.ts'
import { LITESTREAM } from '../support/litestream.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, finished } from '../support/program.ts'
import { S3Stub } from '../support/s3-stub.ts'
import { until } from '../support/world.ts'

const ROUNDS = 2
/** Litestream uploads once a second; a busy machine may need some more. The load goes on for longer than this. */
const MAX_LOSS_MS = 3000

test('killed at random, starts too, and the volume lost, it goes on from the storage and sends nothing twice', async () => {
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

test('while the storage refuses, is away or breaks connections it goes on accepting, and the backup catches up', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  await until(() => stub.bucket.keys.length > 0)

  const load = new Load(deployment, 'outage')
  stub.fault = 'slow down'
  await accepts(load, () => stub.refusals.filter((code) => code === 'SlowDown').length >= 3)
  await stub.goAway()
  await accepts(load, () => deployment.output().includes('connection refused'))
  stub.fault = 'answer lost'
  stub.comeBack()
  await accepts(load, () => stub.answersLost >= 3)
  await load.stop()

  stub.fault = 'none'
  await until(async () => (await check(deployment)).rows === load.acknowledged.length, 30_000)
  await deployment.crash(true)
  deployment.loseVolume()
  await deployment.start({ REQUIRE_RESTORE: '1' })
  expect(await missingOf(deployment, load.acknowledged)).toEqual([])
  await untilDrained(deployment)
  expect(await sentTwice(deployment)).toEqual([])
}, 90_000)

test('what waited at the last copy and was sent after it is not sent again', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  const fault = { kind: 'respond', status: 503 }
  await deployment.simulator.control('fault', { route: 'sms', calls: null, fault })
  const load = new Load(deployment, 'queued')
  await accepts(load, () => load.acknowledged.length >= 20)
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

test('with its database there it stops and starts while the storage is away, and copies what was missing afterwards', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  await until(() => stub.bucket.keys.length > 0)
  await stub.goAway()
  const load = new Load(deployment, 'alone')
  await accepts(load, () => load.acknowledged.length >= 20)
  await load.stop()
  // Not 0: the last copy could not be made, and whoever moves the machine has to know.
  expect(await deployment.terminate()).toBe(1)
  await deployment.start({ REQUIRE_RESTORE: '1' })
  stub.comeBack()
  await until(async () => (await check(deployment)).rows === load.acknowledged.length, 30_000)
}, 60_000)

test('on an empty volume no start is made without the backup: wrong credentials, wrong place, storage away', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  const refused = async (extra: Record<string, string>): Promise<string> => {
    const { code, stderr } = await deployment.enter(extra)
    expect({ code, there: existsSync(deployment.database) }).toEqual({ code: 69, there: false })
    const place = extra['LITESTREAM_REPLICA_URL'] ?? 's3://backups/sgw'
    expect(stderr).toStartWith(`The backup at ${place} cannot be read: cannot fetch generations: `)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    return stderr
  }
  expect(await refused({ LITESTREAM_SECRET_ACCESS_KEY: 'guessed' })).toContain('SignatureDoesNotMatch')
  expect(await refused({ LITESTREAM_ACCESS_KEY_ID: 'AKIDOFADAY' })).toContain('InvalidAccessKeyId')
  expect(await refused({ LITESTREAM_REGION: 'elsewhere-1' })).toContain('AuthorizationHeaderMalformed')
  expect(await refused({ LITESTREAM_REPLICA_URL: 's3://nowhere/sgw' })).toContain('NoSuchBucket')
  await stub.goAway()
  expect(await refused({})).toContain('connection refused')
  stub.comeBack()
  stub.fault = 'slow down'
  expect(await refused({})).toContain('SlowDown')
  expect(stub.bucket.keys).toEqual([])
}, 40_000)

test('credentials may stand in files, for the entry point as for a drill', async () => {
  await using stub = new S3Stub()
  const { LITESTREAM_SECRET_ACCESS_KEY: secret = '', ...storage } = stub.environment()
  using folder = temporaryFolder()
  const file = folder.file('secret-access-key')
  writeFileSync(file, `${secret}\n`)
  await using deployment = await Deployment.create({ ...storage, LITESTREAM_SECRET_ACCESS_KEY_FILE: file })
  const twice = 'LITESTREAM_SECRET_ACCESS_KEY and LITESTREAM_SECRET_ACCESS_KEY_FILE are both set: keep one of them\n'
  expect(await deployment.enter({ LITESTREAM_SECRET_ACCESS_KEY: secret })).toMatchObject({ code: 78, stderr: twice })
  for (const [name, text] of [
    ['empty', '\n'],
    ['nowhere', null],
  ] as const) {
    const path = folder.file(name)
    if (text !== null) writeFileSync(path, text)
    const refused = await deployment.enter({ LITESTREAM_SECRET_ACCESS_KEY_FILE: path })
    const problem = `LITESTREAM_SECRET_ACCESS_KEY_FILE names "${path}", which cannot be read or is empty: put the value into it\n`
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

test('a prefix without a backup is an empty start at first, and an error with REQUIRE_RESTORE', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  const refused = await deployment.enter({ REQUIRE_RESTORE: '1' })
  expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('check LITESTREAM_REPLICA_URL') })
  await deployment.start()
  await until(() => stub.bucket.keys.some((key) => key.startsWith('sgw/')))
  await deployment.stop()
})

test('a drill reads a backup of several upload parts, leaves nothing behind, and fails without credentials', async () => {
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

/** The load goes on until this has come about, and some messages more. */
async function accepts(load: Load, come: () => boolean): Promise<void> {
  await until(come, 20_000)
  const before = load.acknowledged.length
  await until(() => load.acknowledged.length >= before + 5)
}

/** A drill; one that fails (1) says so in its answer: the first copy takes a moment. */
async function check(deployment: Deployment): Promise<{ ok: boolean; rows: number; integrity: string }> {
  const { code, stdout, stderr } = await finished(['sgw', '--json', 'restore', '--check'], deployment.env())
  if (code > 1) throw new Error(`The drill ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

/** 12 messages of a mebibyte that cannot be compressed: an upload of Litestream has parts of five. */
function largeDatabase(path: string): Database {
  const database = new Database(path, { create: true })
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE messages (seq INTEGER PRIMARY KEY, direction TEXT, created_at INTEGER, content BLOB)')
  for (let number = 0; number < 12; number++)
    database.run('INSERT INTO messages (content) VALUES (randomblob(1048576))')
  return database
}
