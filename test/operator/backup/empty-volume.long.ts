import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { Deployment } from '../../support/deployment.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { until } from '../../support/world.ts'

test('on an empty volume, the gateway does not start if it cannot read the backup: wrong credentials, wrong location, no connection', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  const refused = async (extra: Record<string, string>): Promise<string> => {
    const { code, stderr } = await deployment.enter(extra)
    expect({ code, there: existsSync(deployment.database) }).toEqual({ code: 69, there: false })
    const location = extra['LITESTREAM_REPLICA_URL'] ?? 's3://backups/sgw'
    const [looking, reason = '', ...more] = stderr.trim().split('\n')
    expect(looking).toBe(`Looking for a backup at ${location} (${stub.url})`)
    expect(reason).toStartWith(`The backup at ${location} (${stub.url}) cannot be read: `)
    expect(more).toEqual([])
    return stderr
  }
  expect(await refused({ LITESTREAM_SECRET_ACCESS_KEY: 'guessed' })).toContain('SignatureDoesNotMatch')
  expect(await refused({ LITESTREAM_ACCESS_KEY_ID: 'AKIDOFADAY' })).toContain('InvalidAccessKeyId')
  expect(await refused({ LITESTREAM_REGION: 'elsewhere-1' })).toContain('AuthorizationHeaderMalformed')
  expect(await refused({ LITESTREAM_REPLICA_URL: 's3://nowhere/sgw' })).toContain('NoSuchBucket')
  stub.fault = 'slow down'
  expect(await refused({ LITESTREAM_TIMEOUT: '1s' })).toMatch(/SlowDown|no answer within 1 s/)
  expect(stub.bucket.keys).toEqual([])
}, 40_000)

test('an unreachable storage is named at once, and the start waits no longer than LITESTREAM_TIMEOUT', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await stub.goAway()
  const startedAt = performance.now()
  const { code, stderr } = await deployment.enter({ LITESTREAM_TIMEOUT: '1s' })
  expect(performance.now() - startedAt).toBeLessThan(4000)
  expect({ code, there: existsSync(deployment.database) }).toEqual({ code: 69, there: false })
  expect(stderr).toStartWith(`Looking for a backup at s3://backups/sgw (${stub.url})\n`)
  expect(stderr).toMatch(/connection refused|no answer within 1 s; http:\S+ cannot be reached/)
})

test("without LITESTREAM_REGION the region is requested from Amazon's storage; if that fails, the start names the variable", async () => {
  await using deployment = await Deployment.create({
    LITESTREAM_REPLICA_URL: 's3://nobodys-backups/sgw',
    LITESTREAM_ACCESS_KEY_ID: 'AKIDOFNOBODY',
    LITESTREAM_SECRET_ACCESS_KEY: 'guessed',
  })
  const away = { HTTPS_PROXY: 'http://127.0.0.1:9', LITESTREAM_TIMEOUT: '1s' }
  const hint = /LITESTREAM_REGION is not set: .* set LITESTREAM_REGION to that region/
  const { code, stderr } = await deployment.enter(away)
  expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 69, lines: 3 })
  expect(stderr).toMatch(hint)
  expect((await deployment.enter({ ...away, LITESTREAM_REGION: 'eu-central-1' })).stderr).not.toMatch(hint)
  await deployment.start({ LITESTREAM_REPLICA_URL: '' })
  await deployment.stop()
  await deployment.start(away)
  expect(deployment.output()).toMatch(hint)
  await deployment.crash(true)
}, 40_000)

test('a damaged backup, or any other file at its location, prevents an empty start', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  await until(() => stub.bucket.keys.length > 0)
  await deployment.stop()
  await deployment.start()
  await deployment.command('tenant', 'create', '--name', 'A change of the second run')
  await deployment.stop()
  deployment.loseVolume()
  const refused = async (): Promise<string> => {
    const { code, stderr } = await deployment.enter({})
    expect({ code, there: existsSync(deployment.database) }).toEqual({ code: 69, there: false })
    return stderr
  }
  for (const key of stub.bucket.keys.filter(isBase)) stub.bucket.delete(key)
  expect(stub.bucket.keys).not.toEqual([])
  expect(await refused()).toMatch(/^The backup at s3:\/\/backups\/sgw \(.*\) (is damaged: |cannot be read: .*no snap)/m)
  stub.bucket.clear()
  stub.bucket.put('sgw/notes.txt', new TextEncoder().encode('of another program'))
  expect(await refused()).toContain('is damaged: files that a restore needs are missing')
  stub.bucket.clear()
  // A name that begins with the location is another location.
  stub.bucket.put('sgw-other/notes.txt', new TextEncoder().encode('of another program'))
  await deployment.start()
}, 60_000)

/** The files with which a restore begins: snapshots, and the first file. */
const isBase = (key: string): boolean => /\/0009\/|\/0000000000000001-/.test(key)
