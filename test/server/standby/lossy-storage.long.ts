import { expect, test } from 'bun:test'
import { seededRandom } from '../../../src/simulator/random.ts'
import { until } from '../../support/world.ts'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { Gateways } from './gateways.ts'

const LOST = 0.3

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const OUTAGE_MS = 1500

if (HAS_LITESTREAM) {
  test('a takeover whose storage answers nothing for a moment after the lease is taken goes on when it answers again', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await one.connect()
    const ids = await one.send('before')
    await two.startUntil('standby')
    let beganAt: number | null = null
    gateways.stub.loses = () => {
      if (gateways.lease.epoch === 2) beganAt ??= performance.now()
      return beganAt !== null && performance.now() - beganAt < OUTAGE_MS
    }
    await one.stop()
    await two.untilState('ready')
    expect(two.output()).toContain('the object storage cannot be read, trying again')
    expect(await two.missing(ids)).toBe(0)
  }, 60_000)

  test(`a pair whose storage loses three requests of ten starts and takes over, without a stack trace (seed ${SEED})`, async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await one.connect()
    const ids = await one.send('before')
    const random = seededRandom(SEED)
    gateways.stub.loses = () => random() < LOST
    await two.startUntil('standby')
    await one.stop()
    // Litestream waits longer after each failure, so it takes as long as that does.
    await until(async () => (await two.state()) === 'ready', 120_000)
    expect(await two.missing(ids)).toBe(0)
    for (const { output } of [one, two].map((machine) => ({ output: machine.output() })))
      expect(output).not.toMatch(/^\s+at .*\.ts:\d+/m)
  }, 180_000)
}
