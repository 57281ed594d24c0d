import { expect, test } from 'bun:test'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { until } from '../../support/world.ts'
import { Gateways } from './gateways.ts'

// A storage that refuses what it has served before. It needs Litestream 0.5.18.

if (HAS_LITESTREAM) {
  test('a takeover whose first copy is refused waits, says so, leaves the lease to others, and goes on by itself', async () => {
    await using gateways = await Gateways.create()
    const { stub } = gateways
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await one.connect()
    const ids = await one.send('before')
    await one.stop()
    stub.refuses = ({ method, url }) => method !== 'GET' && url.includes('/e2/')
    await two.startUntil('starting')
    await until(() => two.output().includes('the object storage refuses the first copy'), 20_000)
    await until(() => gateways.lease.holder === '', 20_000)
    expect([await two.state(), gateways.lease.epoch]).toEqual(['starting', 2])
    stub.refuses = () => false
    await two.untilState('ready')
    await until(() => gateways.lease.holder !== '')
    expect([await two.missing(ids), gateways.lease.epoch]).toEqual([0, 2])
  }, 120_000)

  test('a machine that the storage serves takes over meanwhile, and the refused one ends with 75', async () => {
    await using gateways = await Gateways.create()
    const { stub } = gateways
    const [one, two, three] = [gateways.machine('one'), gateways.machine('two'), gateways.machine('three')]
    await one.startUntil('ready')
    await one.connect()
    const ids = await one.send('before')
    await one.stop()
    stub.refuses = ({ method, url }) => method !== 'GET' && url.includes('/e2/')
    await two.startUntil('starting')
    await three.startUntil('ready')
    expect(await two.ended()).toBe(75)
    expect([await three.missing(ids), gateways.lease.epoch]).toEqual([0, 3])
  }, 120_000)

  test('a first start whose copy the storage has never stored ends with 78', async () => {
    await using gateways = await Gateways.create()
    gateways.stub.refuses = ({ method, url }) => method !== 'GET' && url.includes('/e1/')
    expect(await gateways.machine('one').enter()).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('cannot be written, and DURABILITY is "replica"'),
    })
  }, 120_000)
}
