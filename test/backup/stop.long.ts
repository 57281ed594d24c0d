import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { Load, missingOf } from '../support/backup-loss.ts'
import { Deployment } from '../support/deployment.ts'
import { IS_LITESTREAM_5 } from '../support/litestream.ts'
import { S3Stub } from '../support/s3-stub.ts'
import { until } from '../support/world.ts'

/** What `docker stop` waits before it kills. */
const CONTAINER_LIMIT_MS = 10_000
/** With a provider that hangs the gateway takes 7 s of the 10. */
const HANG_MS = 60_000

test('a SIGTERM to every process at once loses nothing: what came after the end of Litestream is copied by a second run', async () => {
  await using deployment = await Deployment.create()
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  // Sends under way end while the gateway drains, when Litestream has ended long since.
  await deployment.simulator.control('fault', { route: 'sms', calls: null, fault: { kind: 'delay', ms: 1500 } })
  const load = new Load(deployment, 'group')
  await until(() => load.acknowledged.length >= 50, 20_000)
  const code = await deployment.terminateAll()
  await load.stop()
  // Litestream 0.3 cannot make a second run: the operator is told that the volume is needed.
  expect(code).toBe(IS_LITESTREAM_5 ? 0 : 1)
  expect(deployment.output().includes('Keep this volume')).toBe(!IS_LITESTREAM_5)
  if (!IS_LITESTREAM_5) return
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

test('stopped a moment after its start, it has copied everything', async () => {
  await using deployment = await Deployment.create()
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  await deployment.stop()
  await deployment.start()
  const load = new Load(deployment, 'early')
  await until(() => load.acknowledged.length >= 3)
  await load.stop()
  await deployment.stop()
  deployment.loseVolume()
  await deployment.start({ REQUIRE_RESTORE: '1' })
  expect(await missingOf(deployment, load.acknowledged)).toEqual([])
}, 60_000)

test('a stop that could not make the last copy ends with 1 and says what to keep, within the time that a container has', async () => {
  await using stub = new S3Stub()
  await using deployment = await Deployment.create(stub.environment())
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  await until(() => stub.bucket.keys.length > 0)
  await deployment.crash(true)
  await stub.goAway()
  await deployment.start({ REQUIRE_RESTORE: '1' })
  await deployment.simulator.control('fault', { route: 'sms', calls: null, fault: { kind: 'delay', ms: HANG_MS } })
  const load = new Load(deployment, 'alone')
  await until(() => load.acknowledged.length >= 20, 20_000)
  await load.stop()
  const startedAt = performance.now()
  const code = await deployment.terminate()
  expect(performance.now() - startedAt).toBeLessThan(CONTAINER_LIMIT_MS)
  expect(code).toBe(1)
  expect(deployment.output()).toContain(`Keep this volume: ${deployment.database} has them`)
  stub.comeBack()
  await deployment.simulator.control('clearFaults')
  await deployment.start()
  expect(await missingOf(deployment, load.acknowledged)).toEqual([])
  await deployment.stop()
}, 90_000)
