import { expect, test } from 'bun:test'
import { sentTwice } from '../support/backup-loss.ts'
import { HAS_LITESTREAM } from '../support/litestream.ts'
import { until } from '../support/world.ts'
import { Gateways, type MachineOfGateway } from '../server/standby/gateways.ts'
import { UnitMachine, linesOf, typeAll } from '../server/standby/unit.ts'

// The procedures of docs/beyond-one-machine.md and of its runbooks, with the pages' own lines. It needs Litestream 0.5.18.

const section = (heading: string) => linesOf('beyond-one-machine.md', heading)
const runbook = (heading: string) => linesOf('runbooks.md', heading)
const texts = (label: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${label} ${at}`)

/** The variables of "Start it", with the storage of the test. */
function variablesOf(heading: string, gateways: Gateways): Record<string, string> {
  const [block = []] = section(heading)
  const set = block.map(({ command }) => command.split('='))
  const variables = Object.fromEntries(set.map(([name = '', value = '']) => [name, value]))
  return { ...variables, ...gateways.stub.environment() }
}

async function pairOf(gateways: Gateways): Promise<readonly [UnitMachine, UnitMachine]> {
  const variables = variablesOf('### Start it', gateways)
  const [one, two] = [
    new UnitMachine(gateways.machine('one'), variables),
    new UnitMachine(gateways.machine('two'), variables),
  ]
  await one.type('systemctl start sgw')
  await one.machine.untilState('ready')
  await one.machine.connect()
  await two.type('systemctl start sgw')
  await two.machine.untilState('standby')
  return [one, two]
}

const backupIsUpToDate = async (machine: MachineOfGateway): Promise<boolean> => {
  const checks = /"check":"backup","ok":true,"level":"ok"/
  return checks.test((await machine.sgw('doctor')).stdout)
}

if (HAS_LITESTREAM) {
  test('Start it: the page names the fields that sgw lease shows on a standby', async () => {
    await using gateways = await Gateways.create()
    const [, two] = await pairOf(gateways)
    const [, [lease] = []] = section('### Start it')
    const shown = (await two.type(lease?.command ?? '')).split('\n').flatMap((line) => line.split(/\s+/)[0] ?? [])
    expect(shown.filter((name) => name !== '')).toEqual(['role', 'epoch', 'holder', 'url', 'ageMs'])
  }, 120_000)

  test('Without the storage: one machine goes on alone, and comes back, and nothing is lost or sent twice', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = await pairOf(gateways)
    const [alone = [], back = []] = runbook('### Continue without the storage')
    expect([alone, back].map((lines) => lines.map(({ command }) => command.split(' ')[0]))).toEqual([
      ['systemctl', 'sgw', 'sed', 'systemctl'],
      ['sgw', 'systemctl', 'sed', 'systemctl', 'sgw', 'systemctl'],
    ])
    const before = await one.machine.send(...texts('before', 3))
    await one.machine.untilSent(before)
    await gateways.stub.goAway()
    await one.machine.untilState('lease not renewed')

    await typeAll(alone, one, [two])
    await one.machine.untilState('ready')
    expect(one.variables()).toMatchObject({ STANDBY: 'off', DURABILITY: 'disk' })
    expect(await two.machine.state()).toBeNull()
    const without = await one.machine.send(...texts('alone', 5))
    await one.machine.untilSent(without)

    gateways.stub.comeBack()
    await until(() => backupIsUpToDate(one.machine), 60_000)
    const printed = await typeAll(back, one, [two], async (command) => {
      if (command === 'sgw lease') await one.machine.untilState('ready')
    })
    expect(one.code).toBe(0)
    expect(printed[0]).toMatch(/^✓ backup /m)
    expect(printed[4]).toMatch(/^role +active$/m)
    expect(one.variables()).toMatchObject({ STANDBY: 'on', DURABILITY: 'replica' })
    await two.machine.untilState('standby')

    const [[give] = []] = section('### Hand over')
    await one.type(give?.command ?? '')
    await two.machine.untilState('ready')
    expect(await two.machine.missing([...before, ...without])).toBe(0)
    await two.machine.untilSent(await two.machine.send('after'))
    expect(await sentTwice(gateways.deployment)).toEqual([])
  }, 240_000)

  for (const at of [0, 1])
    test(`Two histories: line ${at + 1} of the page lets one of them go on, here and after a handover`, async () => {
      await using gateways = await Gateways.create()
      const [one, two] = await pairOf(gateways)
      const [alone = [], back = []] = runbook('### Continue without the storage')
      await gateways.stub.goAway()
      await typeAll(alone, one, [two])
      await one.machine.untilState('ready')
      const ofOne = await one.machine.send('one')
      // Its Litestream would copy what only this machine has as soon as the storage is back.
      await one.machine.killAll()
      gateways.stub.comeBack()
      await two.type('systemctl start sgw')
      await two.machine.untilState('ready')
      const ofTwo = await two.machine.send('two')
      await two.type('systemctl stop sgw')

      const [, , variables] = back
      await one.type(variables?.command ?? '')
      expect(await one.machine.enter(one.variables())).toMatchObject({ code: 78 })
      const [lines = []] = runbook('## Two histories').filter(([line]) => line?.command.startsWith('sgw restore'))
      const printed = await one.type(lines[at]?.command ?? '')
      const [kept, given] = at === 0 ? [ofOne, ofTwo] : [ofTwo, ofOne]
      expect(given.every((id) => printed.includes(id))).toBe(true)
      await one.type('systemctl start sgw')
      await one.machine.untilState('ready')
      expect([await one.machine.missing(kept), await one.machine.missing(given)]).toEqual([0, given.length])
      await two.type('systemctl start sgw')
      await two.machine.untilState('standby')
      const [[give] = []] = section('### Hand over')
      await one.type(give?.command ?? '')
      await two.machine.untilState('ready')
      expect([await two.machine.missing(kept), await two.machine.missing(given)]).toEqual([0, given.length])
    }, 180_000)

  test('While the storage fails, without STANDBY: the lines let it go on, and replica waits for the storage again', async () => {
    await using gateways = await Gateways.create()
    const variables = { ...variablesOf('## `DURABILITY=replica`', gateways), STANDBY: 'off' }
    const one = new UnitMachine(gateways.machine('one'), variables)
    await one.type('systemctl start sgw')
    await one.machine.untilState('ready')
    await one.machine.connect()
    await gateways.stub.goAway()
    const [lines = []] = runbook('## The storage is unreachable')
    await typeAll(lines, one, [])
    await one.machine.untilState('ready')
    const ids = await one.machine.send('without')
    await one.machine.untilSent(ids)
    await one.type(lines[0]?.command.replace('=disk/', '=replica/') ?? '')
    gateways.stub.comeBack()
    await one.type('systemctl restart sgw')
    await one.machine.untilState('ready')
    expect(await one.machine.missing(ids)).toBe(0)
  }, 180_000)
}
