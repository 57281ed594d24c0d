import { expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { sentTwice } from '../support/backup-loss.ts'
import { HAS_LITESTREAM } from '../support/litestream.ts'
import { Gateways } from '../server/standby/gateways.ts'
import { UnitMachine, linesOf } from '../server/standby/unit.ts'

// "Move to another machine" of docs/upgrade.md and "From a copy" of docs/runbooks.md, with the pages' own lines.

/** The test has one disk, so nothing has to be copied to another one. */
const BETWEEN_DISKS = ['scp', 'install']

if (HAS_LITESTREAM) {
  test('Move to another machine: the six lines take everything along, and what waited is sent once', async () => {
    await using gateways = await Gateways.create()
    const variables = { STANDBY: 'off', DURABILITY: 'disk', LITESTREAM_REPLICA_URL: '' }
    const [one, two] = ['one', 'two'].map((name) => new UnitMachine(gateways.machine(name), variables))
    if (one === undefined || two === undefined) throw new Error('two machines')
    await one.type('systemctl start sgw')
    await one.machine.untilState('ready')
    await one.machine.connect()
    const ids = await one.machine.send('one', 'two', 'three')

    const [lines = []] = linesOf('upgrade.md', '## Move to another machine')
    expect(lines).toHaveLength(6)
    const archive = join(gateways.deployment.folder, 'sgw.tgz')
    for (const [at, { command }] of lines.entries())
      if (!BETWEEN_DISKS.includes(command.split(' ')[0] ?? ''))
        await (at < 3 ? one : two).type(command.replace('/root/sgw.tgz', archive))

    await two.machine.untilState('ready')
    await two.machine.untilSent([...ids, ...(await two.machine.send('after'))])
    expect(await sentTwice(gateways.deployment)).toEqual([])
  }, 120_000)
}

test('From a copy: a new machine looks up what the copy has waiting, and nothing is sent twice', async () => {
  await using gateways = await Gateways.create()
  const variables = { STANDBY: 'off', DURABILITY: 'disk', LITESTREAM_REPLICA_URL: '', ENCRYPTION_KEYS: '' }
  const [dead, fresh] = [new UnitMachine(gateways.machine('dead'), variables), gateways.machine('fresh')]
  const { deployment } = gateways
  await dead.type('systemctl start sgw')
  await dead.machine.untilState('ready')
  await dead.machine.connect()
  const fault = { kind: 'respond', status: 503 }
  await deployment.simulator.control('fault', { route: 'sms', calls: null, fault })
  const ids = await dead.machine.send('one', 'two', 'three')

  const kept = join(deployment.folder, 'kept')
  mkdirSync(kept)
  await dead.type(`sgw backup ${kept}/copy.db`)
  copyFileSync(join(dead.machine.folder, 'encryption.key'), join(kept, 'encryption.key'))
  await deployment.simulator.control('clearFaults', {})
  await dead.machine.untilSent(ids)
  await dead.machine.killAll()
  renameSync(dead.machine.folder, `${dead.machine.folder}.away`)

  const unit = new UnitMachine(fresh, variables)
  const [lines = []] = linesOf('runbooks.md', '### From a copy')
  for (const { command } of lines.filter((line) => !line.command.includes('/etc/sgw.env'))) {
    if (command === 'sgw status') await fresh.untilState('ready')
    const printed = await unit.type(command.replace('/root', kept).replace(' -o sgw -g sgw', ''))
    if (command === 'sgw status') expect(printed).toMatch(/^restored +\d\d-\d\d \d\d:\d\d:\d\d$/m)
  }
  await fresh.untilSent([...ids, ...(await fresh.send('after'))])
  expect(await sentTwice(deployment)).toEqual([])
}, 120_000)
