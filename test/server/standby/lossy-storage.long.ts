import { expect, test } from 'bun:test'
import { seededRandom } from '../../../src/simulator/random.ts'
import { until } from '../../support/world.ts'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { reachedIn } from '../../support/standby/kept-copy.ts'
import { Gateways } from './gateways.ts'

const LOST = 0.3

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const OUTAGE_MS = 1500

/** A standby that takes over, and not Litestream, lists all levels at once. */
const asksForNewest = ({ url }: Request): boolean => new URL(url).searchParams.get('prefix') === 'sgw/e1/000'

if (HAS_LITESTREAM) {
  test.each([
    ['after the lease is taken', (_request: Request, gateways: Gateways) => gateways.lease.epoch === 2],
    ['when it is asked what the copy that is kept ready lacks', asksForNewest],
  ] as const)(
    'a takeover whose storage answers nothing for a moment %s goes on with that copy',
    async (_when, begins) => {
      await using gateways = await Gateways.create()
      const [one, two] = [gateways.machine('one'), gateways.machine('two')]
      await one.startUntil('ready')
      await one.connect()
      const ids = await one.send('before')
      await two.startUntil('standby')
      await until(() => reachedIn(two.folder))
      let beganAt: number | null = null
      gateways.stub.loses = (request) => {
        if (begins(request, gateways)) beganAt ??= performance.now()
        return beganAt !== null && performance.now() - beganAt < OUTAGE_MS
      }
      await one.stop()
      await two.untilState('ready')
      expect(two.output()).toContain('the object storage cannot be read, trying again')
      expect(two.output()).toContain('the copy that was kept ready is used')
      expect(await two.missing(ids)).toBe(0)
    },
    60_000,
  )

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
