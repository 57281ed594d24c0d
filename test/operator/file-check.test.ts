import { expect, spyOn, test } from 'bun:test'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HOUR_MS } from '../../src/core/limits.ts'
import type { Gateway } from '../../src/messages/gateway.ts'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { FileCheck } from '../../src/operator/file-check.ts'
import { controlSocket } from '../support/litestream-socket.ts'
import { manualClock } from '../support/manual-clock.ts'
import { makeTable, overwriteTable } from '../support/overwrite-table.ts'
import { startReceiver } from '../support/receiver.ts'
import { type World, createWorld, recordedLog, until } from '../support/world.ts'

const MINUTE_MS = 60_000

const ready = async (world: World): Promise<number> => (await fetch(`${world.running.adminUrl}/ready`)).status

const tablesOf = async ({ database }: Gateway): Promise<string[]> => {
  const names = await database.gate.values(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
  return ['sqlite_schema', ...names.map(([name]) => String(name))]
}

/** A gateway without timers, whose checks the test runs. */
async function quietWorld(env: Record<string, string> = {}) {
  const clock = manualClock()
  const world = await createWorld({ connect: false, work: false, clock, env })
  const checked = spyOn(world.gateway.database.reader, 'checkFile')
  return {
    world,
    clock,
    check: new FileCheck(world.gateway),
    tablesRead: () => checked.mock.calls.map(([table]) => table),
  }
}

test('pages that are overwritten below SQLite are noticed within an hour, and lead to what damage leads to', async () => {
  const clock = manualClock()
  const { log, lines } = recordedLog()
  await using world = await createWorld({ clock, log, connect: false, env: { ADMIN_PORT: '0' } })
  const { gate } = world.gateway.database
  await makeTable(gate, 'unread')
  await overwriteTable(gate, join(world.folder, 'sgw.db'), 'unread')
  clock.advance(HOUR_MS - 1)
  expect(await ready(world)).toBe(200)
  await world.send()
  clock.advance(1)
  await until(async () => (await ready(world)) === 503)
  expect(lines.filter((line) => line.includes('"table":"unread"'))).toHaveLength(1)
  expect((await diagnose(world.gateway)).find(({ check }) => check === 'database')).toMatchObject({
    level: 'fail',
    detail: expect.stringContaining('the database is damaged. Stop, and see docs/runbooks.md'),
  })
  await using receiver = startReceiver()
  await new Alerts(world.gateway, receiver.url).run()
  expect(receiver.requests[0]?.body).toMatchObject({
    alert: 'storage_failing',
    text: expect.stringContaining('damaged'),
  })
})

test('a sound file is read whole in one run, and nothing is said', async () => {
  const { world, check, tablesRead } = await quietWorld()
  await using _world = world
  await world.send()
  await check.run()
  expect(tablesRead()).toEqual(await tablesOf(world.gateway))
  expect(await world.gateway.database.storage?.probeIfFailing()).toBe(false)
})

test('a list that is asked for meanwhile waits for one table', async () => {
  const { world, check, tablesRead } = await quietWorld()
  await using _world = world
  const checking = check.run()
  await until(() => tablesRead().length > 0)
  const before = tablesRead().length
  await world.gateway.database.reader.longRead('tenant', 'SELECT 1', [])
  expect(tablesRead().length).toBeLessThanOrEqual(before + 1)
  await checking
  expect(tablesRead().length).toBeGreaterThan(before + 1)
})

test('a run ends after ten minutes, and the next one goes on with the next table', async () => {
  const { world, clock, check } = await quietWorld()
  await using _world = world
  const read: (string | undefined)[] = []
  spyOn(world.gateway.database.reader, 'checkFile').mockImplementation((table) => {
    read.push(table)
    clock.advance(4 * MINUTE_MS)
    return Promise.resolve('ok')
  })
  const tables = await tablesOf(world.gateway)
  await check.run()
  expect(read).toEqual(tables.slice(0, 3))
  await check.run()
  expect(read).toEqual(tables.slice(0, 6))
})

test('a file of more than 1 GB is read once a day', async () => {
  const { world, clock, check, tablesRead } = await quietWorld()
  await using _world = world
  truncateSync(join(world.folder, 'sgw.db'), 1.1e9)
  const tables = (await tablesOf(world.gateway)).length
  for (let hour = 0; hour < 24; hour++, clock.advance(HOUR_MS)) await check.run()
  expect(tablesRead()).toHaveLength(tables)
  await check.run()
  expect(tablesRead()).toHaveLength(2 * tables)
})

test('the file is not read while the backup is behind or does not say how far it is', async () => {
  const { world, check, tablesRead } = await quietWorld({ LITESTREAM: '1' })
  await using _world = world
  const kept = join(world.folder, '.sgw.db-litestream')
  mkdirSync(kept)
  writeFileSync(join(kept, 'copy'), '')
  await check.run()
  await using litestream = controlSocket(world.folder)
  litestream.uploadedAt = Date.now() - 2 * MINUTE_MS
  await check.run()
  expect(tablesRead()).toEqual([])
  litestream.uploadedAt = Date.now()
  await check.run()
  expect(tablesRead()).toEqual(await tablesOf(world.gateway))
})
