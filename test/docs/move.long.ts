import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { sentTwice } from '../support/backup-loss.ts'
import { HAS_LITESTREAM } from '../support/litestream.ts'
import { Gateways } from '../server/standby/gateways.ts'
import { UnitMachine, linesOf } from '../server/standby/unit.ts'

// "Move to another machine" of docs/upgrade.md, with the page's own lines. It needs Litestream 0.5.18.

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
