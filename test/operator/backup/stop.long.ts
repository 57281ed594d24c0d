import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { BackupLoad, missingOf } from '../../support/backup-loss.ts'
import { Deployment } from '../../support/deployment.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { until } from '../../support/world.ts'

/** `docker stop` kills a container after this time. */
const CONTAINER_LIMIT_MS = 10_000
/** With a provider that hangs, the gateway needs 7 s of the 10. */
const HANG_MS = 60_000

test('a SIGTERM to all processes at once loses nothing: a second run of Litestream copies the writes after its end', async () => {
  await using deployment = await Deployment.create()
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  // Sends under way end while the gateway drains, long after the end of Litestream.
  await deployment.simulator.control('fault', { route: 'sms', calls: null, fault: { kind: 'delay', ms: 1500 } })
  const load = new BackupLoad(deployment, 'group')
  await until(() => load.acknowledged.length >= 50, 20_000)
  const code = await deployment.terminateAll()
  await load.stop()
  expect(code).toBe(0)
  expect(deployment.output()).not.toContain('Keep this volume')
  const left = messagesByStatus(deployment)
  expect(left).toHaveProperty('sent')
  deployment.loseVolume()
  await deployment.command('restore')
  expect(messagesByStatus(deployment)).toEqual(left)
}, 60_000)

function messagesByStatus({ database }: Deployment): Record<string, number> {
  using open = new Database(database)
  const rows = open.query<{ status: string; count: number }, []>(
    'SELECT status, count(*) AS count FROM messages GROUP BY status',
  )
  return Object.fromEntries(rows.all().map(({ status, count }) => [status, count]))
}

test('a gateway that is stopped right after its start has copied everything', async () => {
  await using deployment = await Deployment.create()
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  await deployment.stop()
  await deployment.start()
  const load = new BackupLoad(deployment, 'early')
  await until(() => load.acknowledged.length >= 3)
  await load.stop()
  await deployment.stop()
  deployment.loseVolume()
  await deployment.start({ REQUIRE_RESTORE: '1' })
  expect(await missingOf(deployment, load.acknowledged)).toEqual([])
}, 60_000)

test('a stop without a last copy ends with 1 and says what to keep, within the time limit of a container', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  await until(() => stub.bucket.keys.length > 0)
  await deployment.crash(true)
  await stub.goAway()
  await deployment.start({ REQUIRE_RESTORE: '1' })
  await deployment.simulator.control('fault', { route: 'sms', calls: null, fault: { kind: 'delay', ms: HANG_MS } })
  const load = new BackupLoad(deployment, 'alone')
  await until(() => load.acknowledged.length >= 20, 20_000)
  await load.stop()
  const startedAt = performance.now()
  const code = await deployment.terminate()
  expect(performance.now() - startedAt).toBeLessThan(CONTAINER_LIMIT_MS)
  expect(code).toBe(1)
  expect(deployment.output()).toContain(`Keep this volume: ${deployment.database} has them`)
  expect(deployment.output()).toMatch(/lacks the newest changes \(no success within [\d.]+ s/)
  stub.comeBack()
  await deployment.simulator.control('clearFaults')
  await deployment.start()
  expect(await missingOf(deployment, load.acknowledged)).toEqual([])
  await deployment.stop()
}, 90_000)
