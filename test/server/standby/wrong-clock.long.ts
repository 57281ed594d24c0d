import { expect, test } from 'bun:test'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { until } from '../../support/world.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// A holder whose own clock is wrong: to it alone, the storage's clock is off. It needs Litestream 0.5.18.

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** A pair whose holder knows the storage as `localhost`. */
async function pairOf(gateways: Gateways): Promise<[MachineOfGateway, MachineOfGateway]> {
  const [one, two] = [gateways.machine('one'), gateways.machine('two')]
  await one.startUntil('ready', { LITESTREAM_ENDPOINT: gateways.stub.url.replace('127.0.0.1', 'localhost') })
  await one.connect()
  await two.startUntil('standby')
  return [one, two]
}

const doctorOf = async (machine: MachineOfGateway): Promise<string> => (await machine.sgw('doctor')).stdout

if (HAS_LITESTREAM) {
  test.each([HOUR_MS, -HOUR_MS])(
    'a holder whose clock goes an hour off is refused by the storage, gives way, and loses nothing (%d ms)',
    async (aheadMs) => {
      await using gateways = await Gateways.create()
      const { stub } = gateways
      const [one, two] = await pairOf(gateways)
      const ids = await one.send('before')
      stub.aheadOfLocalhostMs = aheadMs
      await one.untilState('lease not renewed')
      await two.untilState('ready')
      expect(await doctorOf(one)).toMatch(
        aheadMs > 0 ? /clock is 3[56]\d\d s behind the storage/ : /3[56]\d\d s ahead of the storage/,
      )
      ids.push(...(await two.send('after')))
      // Nobody can tell it that it has lost the lease before its clock is right.
      stub.aheadOfLocalhostMs = 0
      expect(await one.ended()).toBe(75)
      expect([await two.missing(ids), gateways.lease.epoch]).toEqual([0, 2])
    },
    60_000,
  )

  test.each([2 * MINUTE_MS, -2 * MINUTE_MS])(
    'a holder whose clock is two minutes off goes on, and its doctor says so (%d ms)',
    async (aheadMs) => {
      await using gateways = await Gateways.create()
      const [one, two] = await pairOf(gateways)
      gateways.stub.aheadOfLocalhostMs = aheadMs
      const ids = await one.send('off')
      await until(async () => (await doctorOf(one)).includes("the storage's. Set the clock with NTP."), 20_000)
      expect([await one.state(), await two.state(), gateways.lease.epoch]).toEqual(['ready', 'standby', 1])
      expect(await one.missing(ids)).toBe(0)
    },
    60_000,
  )
}
