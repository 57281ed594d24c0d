import { expect, test } from 'bun:test'
import { crashAndRestore, sentTwice, untilDrained } from '../../support/backup-loss.ts'
import { Deployment } from '../../support/deployment.ts'
import { until } from '../../support/world.ts'

const ROUNDS = 2
/** Litestream copies once a second. A busy machine may need longer. */
const MAX_LOSS_MS = 4000

test('after kill -9 of all processes and the loss of the volume, at most the last seconds are lost and nothing is sent twice', async () => {
  await using deployment = await Deployment.create()
  await deployment.start()
  await deployment.connect('http://127.0.0.1:9/nobody')
  for (let round = 1; round <= ROUNDS; round++) {
    const { acknowledged, lost, lossMs } = await crashAndRestore(deployment, {
      label: `round ${round}`,
      loadMs: 1500 + 700 * round,
    })
    expect(acknowledged).toBeGreaterThan(lost)
    expect(lossMs).toBeLessThan(MAX_LOSS_MS)
  }
  await untilDrained(deployment)
  expect(await sentTwice(deployment)).toEqual([])
  await deployment.stop()
}, 60_000)

test('the gateway stops if Litestream was killed, so that both can be restarted', async () => {
  await using deployment = await Deployment.create()
  await deployment.start()
  deployment.killLitestream()
  await until(async () => (await fetch(`${deployment.url}/health`).catch(() => null)) === null, 15_000)
  expect(deployment.output()).toContain('Litestream is gone')
  await deployment.start()
  await deployment.stop()
}, 40_000)

test('the entry point refuses REQUIRE_RESTORE without a backup location, and starts without Litestream if neither is set', async () => {
  await using deployment = await Deployment.create()
  for (const set of ['1', 'true', 'on']) {
    const refused = await deployment.enter({ LITESTREAM_REPLICA_URL: '', REQUIRE_RESTORE: set })
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('name the storage of the backup') })
  }
  await deployment.start({ LITESTREAM_REPLICA_URL: '' })
  expect(await deployment.command<{ backup: object }>('status')).toMatchObject({ backup: { litestream: false } })
  await deployment.stop()
})
