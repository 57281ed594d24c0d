import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { closeSync, openSync, renameSync, writeSync } from 'node:fs'
import { HAS_LITESTREAM } from '../support/litestream.ts'
import { until } from '../support/world.ts'
import { Gateways } from '../server/standby/gateways.ts'
import { type ManualLine, UnitMachine, linesOf } from '../server/standby/unit.ts'

// The runbooks about a machine and its backup, with the page's own lines. It needs Litestream 0.5.18.

/** Programs that look at the machine. The test has no systemd and no kernel log. */
const LOOK = ['dmesg', 'df', 'du', 'journalctl']
const PAGE_BYTES = 4096

const ALONE = { STANDBY: 'off', DURABILITY: 'disk' }

function machineOf(gateways: Gateways, name: string, variables: Record<string, string> = ALONE): UnitMachine {
  return new UnitMachine(gateways.machine(name), { ...variables, ...gateways.stub.environment() })
}

/** Types the lines of the runbook, without those that only look at the machine. */
async function follow(unit: UnitMachine, heading: string): Promise<Record<string, string>> {
  const [lines = []] = linesOf('runbooks.md', heading)
  const typed = lines.filter(({ command }) => !LOOK.includes(command.split(' ')[0] ?? ''))
  expect(typed.length).toBeGreaterThan(1)
  const printed: [string, string][] = []
  for (const line of typed) printed.push([line.command, await typeWhenReady(unit, line)])
  return Object.fromEntries(printed)
}

async function typeWhenReady(unit: UnitMachine, { command }: ManualLine): Promise<string> {
  if (command === 'sgw status' || command === 'sgw doctor') await unit.machine.untilState('ready')
  return unit.type(command)
}

async function accepted(gateways: Gateways, unit: UnitMachine): Promise<string[]> {
  await unit.type('systemctl start sgw')
  await unit.machine.untilState('ready')
  await unit.machine.connect()
  const ids = await unit.machine.send('one', 'two', 'three')
  const isStored = async (): Promise<boolean> =>
    /"lagMs":\d{1,3}\b/.test((await unit.machine.sgw('status')).stdout) && gateways.stub.bucket.keys.length > 0
  await until(isStored, 30_000)
  // A second's changes are one upload.
  await Bun.sleep(2500)
  return ids
}

if (HAS_LITESTREAM) {
  test('Restore: an empty machine goes on with what the lost one had', async () => {
    await using gateways = await Gateways.create()
    const lost = machineOf(gateways, 'lost')
    const ids = await accepted(gateways, lost)
    await lost.machine.kill()
    // Its Litestream may still be making a last copy, so that the folder cannot be emptied.
    renameSync(lost.machine.folder, `${lost.machine.folder}.away`)
    const fresh = machineOf(gateways, 'fresh')
    const printed = await follow(fresh, '## Restore')
    expect(fresh.variables()).toMatchObject({ REQUIRE_RESTORE: '1' })
    expect(printed['sgw status']).toMatch(/^restored +\d\d-\d\d \d\d:\d\d:\d\d$/m)
    expect(await fresh.machine.missing(ids)).toBe(0)
  }, 120_000)

  test('The database is damaged: it is kept, and the gateway goes on with the backup', async () => {
    await using gateways = await Gateways.create()
    const unit = machineOf(gateways, 'one')
    const ids = await accepted(gateways, unit)
    await unit.type('systemctl stop sgw')
    damage(unit.machine.database)
    expect(await unit.machine.enter(unit.variables())).toMatchObject({
      code: 73,
      stderr: expect.stringContaining('is damaged'),
    })
    const printed = await follow(unit, '## The database is damaged')
    expect(printed['sgw restore --check']).toMatch(/^ok +true$/m)
    await unit.machine.untilState('ready')
    expect(await unit.machine.missing(ids)).toBe(0)
  }, 120_000)

  test('The database is damaged, and another machine stands by: it works after the stop, and the first one stands by', async () => {
    await using gateways = await Gateways.create()
    const variables = { STANDBY: 'on', DURABILITY: 'replica' }
    const [one, two] = [machineOf(gateways, 'one', variables), machineOf(gateways, 'two', variables)]
    await one.type('systemctl start sgw')
    await one.machine.untilState('ready')
    await one.machine.connect()
    await two.type('systemctl start sgw')
    await two.machine.untilState('standby')
    const ids = await one.machine.send('one', 'two', 'three')
    overwrite(one.machine.database)
    await follow(one, '## The database is damaged')
    await two.machine.untilState('ready')
    expect(await two.machine.missing(ids)).toBe(0)
    await one.machine.untilState('standby')
    await two.type('sgw lease give')
    await one.machine.untilState('ready')
    expect(await one.machine.missing(ids)).toBe(0)
  }, 120_000)

  test('The backup is behind: a check says what it has, and a restart copies at once', async () => {
    await using gateways = await Gateways.create()
    const unit = machineOf(gateways, 'one')
    await accepted(gateways, unit)
    gateways.stub.fault = 'refuse'
    const ids = await unit.machine.send('unstored')
    await until(() => gateways.stub.refusals.length > 0, 30_000)
    gateways.stub.fault = 'none'
    const printed = await follow(unit, '## The backup is behind')
    expect(printed['sgw restore --check']).toMatch(/^ok +(true|false)$/m)
    await unit.machine.untilState('ready')
    const isStored = async (): Promise<boolean> => (await unit.type('sgw restore --check')).includes('true')
    await until(isStored, 30_000)
    expect(await unit.machine.missing(ids)).toBe(0)
  }, 120_000)
}

/** The file of a disk that fails. */
function damage(path: string): void {
  using database = new Database(path)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  overwrite(path)
}

function overwrite(path: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(20 * PAGE_BYTES).fill(0x5a), 0, 20 * PAGE_BYTES, PAGE_BYTES)
  closeSync(file)
}
