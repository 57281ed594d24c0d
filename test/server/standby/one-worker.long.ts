import { expect, test } from 'bun:test'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { finished } from '../../support/program.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// A gateway without STANDBY at a location where others share a lease. It needs Litestream 0.5.18.

const ALONE = { STANDBY: 'off', DURABILITY: 'disk' }
const AWAY = { LITESTREAM_ENDPOINT: 'http://127.0.0.1:9' }

/** Runs the server without the entry point, which is expected to end. */
const startBare = (machine: MachineOfGateway, extra: Record<string, string>) =>
  finished(['timeout', '--kill-after=5', '20', 'sgw', 'start'], machine.env(extra))

if (HAS_LITESTREAM) {
  test('beside a holder nothing starts without STANDBY, however it is started and whatever its database is', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await two.startUntil('ready', { ...ALONE, LITESTREAM_REPLICA_URL: 's3://backups/elsewhere' })
    await two.stop()
    await one.startUntil('ready')
    const refusal = { code: 78, stderr: expect.stringMatching(/holds the lease \(epoch 1\).* was renewed just now/) }
    expect(await two.enter(ALONE)).toMatchObject(refusal)
    expect(await two.enter({ STANDBY: 'off' })).toMatchObject(refusal)
    expect(await startBare(two, ALONE)).toMatchObject(refusal)
    // One that has the copy of the holder, and so its epoch.
    const three = gateways.machine('three')
    await three.json('restore')
    expect(await three.enter({ STANDBY: 'off' })).toMatchObject(refusal)
    expect([await one.state(), gateways.lease.epoch]).toEqual(['ready', 1])
  }, 180_000)

  test('a holder that died goes on without STANDBY if nobody takes its lease meanwhile', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await one.connect()
    const ids = await one.send('one')
    await one.kill()
    expect(await two.enter({ STANDBY: 'off' })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('and was not renewed for 6 s'),
    })
    await one.startUntil('ready', ALONE)
    expect(await one.missing(ids)).toBe(0)
    await one.stop()
    // It has left the lease, so the next start looks at nothing.
    await one.startUntil('ready', ALONE)
  }, 180_000)

  test('after a stop a file starts without STANDBY if it continues the copy, and an empty disk with the newest one', async () => {
    await using gateways = await Gateways.create()
    const [one, two, three] = [gateways.machine('one'), gateways.machine('two'), gateways.machine('three')]
    await one.startUntil('ready')
    await one.connect()
    await one.stop()
    await two.startUntil('ready')
    const ids = await two.send('later')
    await two.stop()
    expect(await one.enter(ALONE)).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('lacks changes that the last holder'),
    })
    await three.startUntil('ready', ALONE)
    expect(await three.missing(ids)).toBe(0)
  }, 180_000)

  test('an empty disk starts without STANDBY with the newest copy, also if somebody has deleted the lease', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready', ALONE)
    await one.connect()
    const ids = await one.send('at the location itself')
    await one.stop()
    await one.startUntil('ready')
    ids.push(...(await one.send('in an epoch')))
    await one.stop()
    gateways.stub.bucket.delete('sgw/lease.json')
    await two.startUntil('ready', ALONE)
    expect(await two.missing(ids)).toBe(0)
  }, 180_000)

  test('without the storage a machine goes on after sgw lease abandon, and stops when another one has the lease', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await one.connect()
    const before = await one.send('before')
    await one.kill()
    const away = { ...ALONE, ...AWAY }
    expect(await one.enter(away)).toMatchObject({ code: 78, stderr: expect.stringContaining('sgw lease abandon') })
    const asked = await one.sgw('lease', 'abandon')
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('--yes')])
    expect(await one.json('lease', 'abandon', '--yes')).toEqual({ abandoned: true, epoch: 1 })
    await one.startUntil('ready', away)
    const alone = await one.send('alone 1', 'alone 2')
    const running = await one.sgw('lease', 'abandon', '--yes')
    expect([running.code, running.stderr]).toEqual([75, expect.stringContaining('Another process uses')])
    await one.stop()
    // The storage is back for it: it copies to the location itself.
    await one.startUntil('ready', ALONE)
    await two.startUntil('ready')
    expect(await one.ended()).toBe(78)
    expect(one.output()).toContain('has taken the lease with epoch 2')
    expect(await two.missing([...before, ...alone])).toBe(0)
  }, 180_000)

  test('a database that never shared the storage starts while it is away', async () => {
    await using gateways = await Gateways.create()
    const one = gateways.machine('one')
    await one.startUntil('ready', { ...ALONE, LITESTREAM_REPLICA_URL: 's3://backups/elsewhere' })
    await one.stop()
    await one.startUntil('ready', { ...ALONE, ...AWAY })
    expect(one.output()).toContain('it is unknown whether another gateway works')
  }, 180_000)
}
