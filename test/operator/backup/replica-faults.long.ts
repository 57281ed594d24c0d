import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Deployment, NUMBER } from '../../support/deployment.ts'
import { DistantStorage } from '../../support/distant-storage.ts'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { finished, freePort } from '../../support/program.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { until } from '../../support/world.ts'

// What DURABILITY=replica says and does when its storage fails, at run time and at a start. It needs Litestream 0.5.18.

const REPLICA = { DURABILITY: 'replica', REPLICA_TIMEOUT: '1s' }
const SILENT_MS = 600_000

type Storage = { stub: S3Stub; distant: DistantStorage; secret: string }
interface Fault {
  name: string
  begin(storage: Storage): void
  end(storage: Storage): void
}

const FAULTS: Fault[] = [
  {
    name: 'that cannot be reached',
    begin: ({ distant }) => distant.goAway(),
    end: ({ distant }) => distant.comeBack(),
  },
  {
    name: 'that does not answer',
    begin: ({ distant }) => (distant.roundTripMs = SILENT_MS),
    end: ({ distant }) => {
      distant.roundTripMs = 0
      distant.goAway()
      distant.comeBack()
    },
  },
  { name: 'that is full', begin: ({ stub }) => (stub.fault = 'full'), end: ({ stub }) => (stub.fault = 'none') },
  {
    name: 'that answers 503',
    begin: ({ stub }) => (stub.fault = 'slow down'),
    end: ({ stub }) => (stub.fault = 'none'),
  },
  {
    name: 'that has another key by now',
    begin: ({ stub }) => (stub.credentials.secretAccessKey = 'another'),
    end: ({ stub, secret }) => (stub.credentials.secretAccessKey = secret),
  },
]

if (HAS_LITESTREAM) {
  test('a storage that fails is 503, not ready, an alert and a finding of the doctor, and the gateway recovers by itself', async () => {
    await using stub = new S3Stub({ pageSize: 1000 })
    await using distant = await DistantStorage.start(stub.url, 0)
    const adminPort = freePort()
    await using deployment = await Deployment.create({
      ...stub.environment(),
      ...REPLICA,
      LITESTREAM_ENDPOINT: distant.url,
      ADMIN_PORT: String(adminPort),
    })
    await deployment.start()
    await deployment.connect('http://127.0.0.1:9/nobody')
    const storage = { stub, distant, secret: stub.credentials.secretAccessKey }
    const send = (text: string): Promise<Response> =>
      deployment.call('POST', '/v1/sms/send', { from: NUMBER, to: '+15555550199', body: text })
    const ready = async (): Promise<number> => (await fetch(`http://127.0.0.1:${adminPort}/ready`)).status
    const alerts = (state: 'alert' | 'alert is over'): number =>
      [...deployment.output().matchAll(/"alert":"storage_failing".*"msg":"([^"]*)"/g)].filter(
        ([, msg]) => msg === state,
      ).length
    for (const [index, { name, begin, end }] of FAULTS.entries()) {
      expect((await send(`before ${name}`)).status).toBe(202)
      begin(storage)
      const refused = await until(async () => {
        const answer = await send(`while ${name}`)
        return answer.status === 503 && answer
      })
      expect([refused.headers.get('retry-after'), await refused.json()]).toEqual([
        '5',
        { error: 'Storage unavailable' },
      ])
      expect([name, await ready()]).toEqual([name, 503])
      const doctor = await finished(['sgw', '--json', 'doctor'], deployment.env())
      expect([doctor.code, doctor.stdout]).toEqual([
        1,
        expect.stringContaining('the replica does not store what is committed'),
      ])
      await until(() => alerts('alert') === index + 1)
      end(storage)
      await until(async () => (await send(`after ${name}`)).status === 202)
      expect([name, await ready()]).toEqual([name, 200])
      await until(() => alerts('alert is over') === index + 1)
    }
    await deployment.stop()
  }, 300_000)

  test('a start whose storage refuses it ends with 78, and one whose storage does not answer with 69, and the database stays', async () => {
    await using stub = new S3Stub({ pageSize: 1000 })
    await using deployment = await Deployment.create({ ...stub.environment(), ...REPLICA })
    await deployment.start()
    await deployment.stop()
    const secret = stub.credentials.secretAccessKey
    stub.credentials.secretAccessKey = 'another'
    const refused = await deployment.enter({})
    stub.credentials.secretAccessKey = secret
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('cannot be written') })
    const missing = await deployment.enter({ LITESTREAM_REPLICA_URL: 's3://nobody/sgw' })
    expect(missing).toMatchObject({ code: 78, stderr: expect.stringContaining('NoSuchBucket') })
    const old = await deployment.enter({ LITESTREAM_COMMAND: programOf(deployment, '0.5.17') })
    expect(old).toMatchObject({ code: 78, stderr: expect.stringContaining('install 0.5.18 or later') })
    await stub.goAway()
    const away = await deployment.enter({ LITESTREAM_TIMEOUT: '3s' })
    expect(away).toMatchObject({ code: 69, stderr: expect.stringContaining('does not store') })
    stub.comeBack()
    await deployment.start()
    await deployment.stop()
  }, 240_000)
}

/** A Litestream of another version, as far as the gateway asks it. */
function programOf({ folder }: Deployment, version: string): string {
  const path = join(folder, `litestream-${version}`)
  writeFileSync(path, `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
  return path
}

test('a Litestream before 0.5 is refused with 69', async () => {
  await using deployment = await Deployment.create()
  const old = await deployment.enter({ LITESTREAM_COMMAND: programOf(deployment, '0.3.13') })
  expect(old).toMatchObject({
    code: 69,
    stderr: expect.stringContaining('is older than Litestream 0.5: install 0.5.18'),
  })
})

test('DURABILITY=replica without the backup, or without the entry point, ends with 78', async () => {
  await using deployment = await Deployment.create()
  const without = await deployment.enter({ ...REPLICA, LITESTREAM_REPLICA_URL: '' })
  expect(without).toMatchObject({ code: 78, stderr: expect.stringContaining('LITESTREAM_REPLICA_URL is not set') })
  const alone = await finished(['sgw', 'start'], { ...deployment.env(), ...REPLICA })
  expect(alone).toMatchObject({ code: 78, stderr: expect.stringContaining('start it with the entry point') })
})
