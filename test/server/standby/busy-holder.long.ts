import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { PROJECT } from '../../support/program.ts'
import { until } from '../../support/world.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// A holder whose event loop is held, beside a healthy standby. It needs Litestream 0.5.18.

const HELD_LOOP = join(PROJECT, 'test/support/standby/preloads/held-loop.ts')

/** A pair whose holder does nothing for this long from `hold` on. */
async function pairOf(gateways: Gateways, heldMs: number): Promise<[MachineOfGateway, MachineOfGateway]> {
  const [one, two] = [gateways.machine('one'), gateways.machine('two')]
  const extra = { SGW_HELD_MS: String(heldMs), BUN_OPTIONS: `--no-env-file --preload ${HELD_LOOP}` }
  await one.startUntil('ready', extra)
  await one.connect()
  await two.startUntil('standby')
  return [one, two]
}

/** Whether an answer takes so long. */
async function isHeldFor(machine: MachineOfGateway, ms: number): Promise<boolean> {
  const from = performance.now()
  await machine.state()
  return performance.now() - from > ms
}

if (HAS_LITESTREAM) {
  test('a holder that is busy for longer than a lease lasts keeps it, and goes on', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = await pairOf(gateways, 8000)
    const ids = await one.send('before')
    process.kill(one.pid, 'SIGUSR2')
    await until(() => isHeldFor(one, 5000), 20_000)
    expect(await one.state()).toBe('ready')
    expect([await two.state(), gateways.lease.epoch]).toEqual(['standby', 1])
    ids.push(...(await one.send('after')))
    expect(await one.missing(ids)).toBe(0)
  }, 180_000)

  test('a holder whose event loop is held for good gives way to a standby, and ends with 75 if it ever goes on', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = await pairOf(gateways, 40_000)
    const ids = await one.send('before')
    const heldAt = performance.now()
    process.kill(one.pid, 'SIGUSR2')
    await until(async () => (await two.state()) === 'ready', 35_000)
    expect(performance.now() - heldAt).toBeGreaterThan(14_000)
    expect(await two.missing(ids)).toBe(0)
    ids.push(...(await two.send('after')))
    expect(await one.ended()).toBe(75)
    expect(await two.missing(ids)).toBe(0)
  }, 180_000)
}
