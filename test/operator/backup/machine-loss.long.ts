import { expect, test } from 'bun:test'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { type Losses, MachineLoss } from '../../support/machine-loss.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { until } from '../../support/world.ts'

// The short form of bench/replica.ts. DURABILITY=replica needs Litestream 0.5.18: with Go installed, test/support/litestream.ts builds it.

const CONNECTIONS = 8
const NOTHING_LOST: Partial<Losses> = { lost: 0, twice: 0, outOfOrder: 0, stuck: 0, events: 0, gaps: 0 }

if (HAS_LITESTREAM) {
  test('no loss of a machine under load loses, repeats or reorders what was accepted, or hides an event from a client who follows', async () => {
    await using stub = new S3Stub({ pageSize: 1000 })
    await using drill = await MachineLoss.start({ ...stub.environment(), DURABILITY: 'replica' }, 5)
    for (const moment of ['any time', 'during an upload', 'at a stop'] as const)
      await drill.lose(moment, CONNECTIONS, 700)
    const { accepted, ...losses } = await drill.losses()
    expect(accepted).toBeGreaterThan(0)
    expect(losses).toMatchObject(NOTHING_LOST)
  }, 240_000)

  test('while the storage is away nothing is accepted, a machine that is lost then loses nothing, and the gateway recovers by itself', async () => {
    await using stub = new S3Stub({ pageSize: 1000 })
    const environment = { ...stub.environment(), DURABILITY: 'replica', REPLICA_TIMEOUT: '1s' }
    await using drill = await MachineLoss.start(environment, 0)
    const { storage } = drill
    expect(await drill.load(CONNECTIONS, Bun.sleep(500))).toBeGreaterThan(0)
    storage.goAway()
    expect(await drill.load(CONNECTIONS, Bun.sleep(2500))).toBe(0)
    storage.comeBack()
    expect(await drill.load(CONNECTIONS, Bun.sleep(4000))).toBeGreaterThan(0)
    storage.goAway()
    const lost = Bun.sleep(1500).then(() => drill.deployment.crash(true))
    expect(await drill.load(CONNECTIONS, lost)).toBe(0)
    drill.deployment.loseVolume()
    storage.comeBack()
    await drill.deployment.start({ REQUIRE_RESTORE: '1' })
    expect(await drill.losses()).toMatchObject(NOTHING_LOST)
  }, 240_000)

  test('with DURABILITY=disk the same loss loses messages, which the drill sees', async () => {
    await using stub = new S3Stub({ pageSize: 1000 })
    await using drill = await MachineLoss.start({ ...stub.environment(), DURABILITY: 'disk' }, 0)
    await drill.load(CONNECTIONS, Bun.sleep(300))
    // On a fast machine the load may be over before the first copy: the check then ends with 1, "there is no backup".
    const copied = () => drill.deployment.command<{ rows: number }>('restore', '--check').catch(() => ({ rows: 0 }))
    await until(async () => (await copied()).rows > 0, 20_000)
    drill.storage.goAway()
    const accepted = await drill.load(
      CONNECTIONS,
      Bun.sleep(500).then(() => drill.deployment.crash(true)),
    )
    drill.deployment.loseVolume()
    drill.storage.comeBack()
    await drill.deployment.start()
    const { lost } = await drill.losses()
    expect(lost).toBeGreaterThan(accepted / 2)
  }, 240_000)
} else {
  test('DURABILITY=replica is refused with an older Litestream, and the message says which one to install', async () => {
    await using stub = new S3Stub()
    await using drill = await MachineLoss.start({ ...stub.environment(), DURABILITY: 'disk' }, 0)
    await drill.deployment.stop()
    const { code, stderr } = await drill.deployment.enter({ DURABILITY: 'replica' })
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('install 0.5.18 or later') })
  })
}
