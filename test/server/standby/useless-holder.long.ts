import { expect, test } from 'bun:test'
import { fillDisk, signalLitestream } from '../../support/deployment.ts'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { until } from '../../support/world.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// A holder that can do nothing with its lease any more, beside a healthy standby. It needs Litestream 0.5.18.

/** A pair whose holder knows that the other one stands by. */
async function pairOf(gateways: Gateways): Promise<[MachineOfGateway, MachineOfGateway]> {
  const [one, two] = [gateways.machine('one'), gateways.machine('two')]
  await one.startUntil('ready', { REPLICA_TIMEOUT: '2s' })
  await one.connect()
  await two.startUntil('standby', { REPLICA_TIMEOUT: '2s' })
  const knowsStandby = async (): Promise<boolean> =>
    /"check":"standby","ok":true,"level":"ok","detail":"[^" ]+:\d+"/.test((await one.sgw('doctor')).stdout)
  await until(knowsStandby, 40_000)
  return [one, two]
}

if (HAS_LITESTREAM) {
  test('an idle holder whose Litestream hangs gives way to a standby, and ends with 75', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = await pairOf(gateways)
    const ids = await one.send('before')
    signalLitestream(one.pid, 'SIGSTOP')
    await two.untilState('ready')
    // It looks each second whether somebody has the lease.
    expect(await one.ended()).toBe(75)
    expect(await two.missing(ids)).toBe(0)
  }, 180_000)

  test('a holder whose Litestream was only slow is not ready meanwhile, and takes its lease back if nobody has it', async () => {
    await using gateways = await Gateways.create()
    const one = gateways.machine('one')
    await one.startUntil('ready', { REPLICA_TIMEOUT: '2s' })
    await one.connect()
    signalLitestream(one.pid, 'SIGSTOP')
    await one.send('unstored').catch(() => null)
    await until(() => gateways.lease.holder === '', 40_000)
    await one.untilState('lease not renewed')
    const events = await one.call('/v1/events')
    expect([events.status, events.headers.get('retry-after'), await events.text()]).toEqual([
      503,
      '1',
      '{"error":"Storage unavailable"}',
    ])
    signalLitestream(one.pid, 'SIGCONT')
    await one.untilState('ready')
    expect(gateways.lease).toMatchObject({ epoch: 1, holder: expect.stringContaining(String(one.port)) })
  }, 180_000)

  test('a holder that cannot write its disk gives way to a standby', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = await pairOf(gateways)
    const ids = await one.send('before')
    fillDisk(one.pid)
    await two.untilState('ready')
    expect(await two.missing(ids)).toBe(0)
    expect(await one.ended()).toBe(75)
  }, 180_000)

  test('a holder whose Litestream was killed ends before its calls do, because nothing of them could be stored', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    const patient = { PROVIDER_TIMEOUT: '60s', RECONCILE_SETTLE: '66s' }
    await one.startUntil('ready', patient)
    await one.connect()
    await two.startUntil('standby', patient)
    await gateways.deployment.simulator.control('fault', {
      route: 'sms',
      calls: null,
      fault: { kind: 'delay', ms: 30_000 },
    })
    await one.send('hanging')
    const killedAt = performance.now()
    signalLitestream(one.pid, 'SIGKILL')
    expect(await one.ended()).toBe(69)
    // The drain of a stop waits for 7 s.
    expect(performance.now() - killedAt).toBeLessThan(7000)
    expect(one.output()).not.toContain('lacks the newest changes')
    await two.untilState('ready')
  }, 180_000)
}
