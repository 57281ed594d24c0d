import { expect, test } from 'bun:test'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type RunningGateway, runGateway } from '../../src/server/run.ts'
import { manualClock } from '../support/manual-clock.ts'
import { FROM, type World, createWorld, recordedLog, until } from '../support/world.ts'

// A gateway that only receives makes no attempts. An older file in the place of its database is noticed all the same.

const IS_RESTORED = 'this database was restored from a backup'

interface Page {
  events: { type: string; body?: string }[]
  cursor: string
  gap: boolean
}

const receive = async ({ control, gateway }: Pick<World, 'control' | 'gateway'>, ...texts: string[]): Promise<void> => {
  for (const text of texts) await control.injectSms({ from: '+15555550177', to: FROM, text })
  const last = `SELECT 1 FROM messages WHERE body = '${texts.at(-1)}'`
  await until(async () => (await gateway.database.gate.execute(last)).rows.length === 1)
}

async function read({ url }: RunningGateway, apiKey: string, cursor?: string): Promise<Page> {
  const query = cursor === undefined ? '' : `?after=${encodeURIComponent(cursor)}`
  const response = await fetch(`${url}/v1/events${query}`, { headers: { authorization: `Bearer ${apiKey}` } })
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}

/** Puts a copy in the place of the database. The mark stays, as `docs/runbooks.md` says. */
function replace(world: World, copy: string): void {
  const path = join(world.folder, 'sgw.db')
  for (const file of ['-wal', '-shm']) rmSync(`${path}${file}`, { force: true })
  copyFileSync(copy, path)
}

async function next(world: World, lines: string[] = []): Promise<RunningGateway> {
  const recorded = recordedLog()
  const { config, clock } = world.gateway
  const running = await runGateway({ config, log: recorded.log, clock })
  lines.push(...recorded.lines)
  return running
}

test('an older file in the place of the database of a gateway that only receives is noticed, and its cursors say gap', async () => {
  await using world = await createWorld({ outside: true })
  const copy = join(world.folder, 'copy.db')
  await receive(world, 'one', 'two')
  await world.gateway.database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  copyFileSync(join(world.folder, 'sgw.db'), copy)
  await receive(world, 'three')
  const { cursor } = await read(world.running, world.key)
  await world.running.stop()
  replace(world, copy)
  const lines: string[] = []
  const restored = await next(world, lines)
  try {
    expect(lines.filter((line) => line.includes(IS_RESTORED))).toHaveLength(1)
    restored.work()
    // The back-fill fetches what the file lacks, and other events have their numbers now.
    const three = `SELECT 1 FROM messages WHERE body = 'three'`
    await until(async () => (await restored.gateway.database.gate.execute(three)).rows.length === 1)
    await receive({ control: world.control, gateway: restored.gateway }, 'four')
    const page = await read(restored, world.key, cursor)
    expect(page.gap).toBe(true)
    expect(page.events.filter(({ type }) => type === 'sms_inbound').map(({ body }) => body)).toEqual([
      'one',
      'two',
      'three',
      'four',
    ])
    const { cursor: newer } = page
    await restored.stop()
    const again: string[] = []
    const same = await next(world, again)
    expect(again.filter((line) => line.includes(IS_RESTORED))).toEqual([])
    expect(await read(same, world.key, newer)).toMatchObject({ events: [], gap: false })
    await same.stop()
  } finally {
    await restored.stop()
  }
}, 60_000)

test('what was received is noted a second later at most, for a process that ends without a stop', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false })
  const mark = (): Promise<string> => Bun.file(join(world.folder, 'sgw.db.mark')).text()
  const newest = async (): Promise<string> => {
    const [row] = await world.gateway.database.gate.values('SELECT max(seq) FROM events')
    return `${String(row?.[0] ?? 0).padStart(16, '0')}\n`
  }
  await receive(world, 'one')
  expect(await mark()).not.toEndWith(await newest())
  clock.advance(1000)
  await until(async () => (await mark()).endsWith(await newest()))
})

test('a file that lacks nothing is not restored, and a missing one of a gateway that only received is refused', async () => {
  await using world = await createWorld({ outside: true })
  const copy = join(world.folder, 'copy.db')
  await receive(world, 'one')
  await world.running.stop()
  copyFileSync(join(world.folder, 'sgw.db'), copy)
  replace(world, copy)
  const lines: string[] = []
  const running = await next(world, lines)
  expect(lines.filter((line) => line.includes(IS_RESTORED))).toEqual([])
  await running.stop()
  rmSync(join(world.folder, 'sgw.db'))
  expect(await next(world).catch(({ message }: Error) => message)).toContain('sgw.db is missing or empty')
})
