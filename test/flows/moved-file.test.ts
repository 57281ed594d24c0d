import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  linkSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { StartError } from '../../src/core/start-error.ts'
import { type RunningGateway, runGateway } from '../../src/server/run.ts'
import { diagnoseOffline } from '../../src/operator/doctor/diagnose-offline.ts'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import type { Finding } from '../../src/operator/doctor/finding.ts'
import { expectError } from '../support/expect-error.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, TO, type World, createWorld, recordedLog, until } from '../support/world.ts'

const ready = async (world: World): Promise<number> => (await fetch(`${world.running.adminUrl}/ready`)).status

const send = (world: World): Promise<Response> =>
  world.call('POST', '/v1/sms/send', { body: { from: FROM, to: TO, body: 'Hello' } })

const checkOfDatabase = async (world: World): Promise<Finding | undefined> =>
  (await diagnose(world.gateway)).find(({ check }) => check === 'database')

/** What happens to the file at a path, and how to undo it. */
const ACCIDENTS: Record<string, (path: string) => void> = {
  'the database is deleted': (path) => rmSync(path),
  'its log is deleted': (path) => rmSync(`${path}-wal`),
  'the index of its log is deleted': (path) => rmSync(`${path}-shm`),
  'all its files are deleted': (path) => ['', '-wal', '-shm', '.mark'].forEach((suffix) => rmSync(`${path}${suffix}`)),
  'a copy is moved over it': (path) => {
    copyFileSync(path, `${path}.copy`)
    renameSync(`${path}.copy`, path)
  },
}

for (const [name, happen] of Object.entries(ACCIDENTS))
  test(`if ${name} under a running gateway, nothing more is accepted, and everybody is told how to save the data`, async () => {
    const { log, lines } = recordedLog()
    await using world = await createWorld({ log, connect: false, env: { ADMIN_PORT: '0' } })
    expect((await send(world)).status).toBe(202)
    expect(await ready(world)).toBe(200)
    // The connection for lists is open, too.
    expect((await world.call('GET', '/v1/sms/messages')).status).toBe(200)
    happen(join(world.folder, 'sgw.db'))
    const refused = await send(world)
    expect(refused.headers.get('retry-after')).toBe('5')
    await expectError(refused, 503, 'Storage unavailable')
    expect(await ready(world)).toBe(503)
    expect((await world.call('GET', '/v1/sms/messages')).status).toBe(200)
    const found = await checkOfDatabase(world)
    expect(found?.level).toBe('fail')
    expect(found?.detail).toMatch(/was deleted or replaced .*Do not stop the gateway .*sgw backup FILE/)
    await using receiver = startReceiver()
    await new Alerts(world.gateway, receiver.url).run()
    expect(receiver.requests[0]?.body).toMatchObject({
      alert: 'storage_failing',
      text: expect.stringContaining('sgw backup FILE'),
    })
    expect(lines.filter((line) => line.includes('was deleted or replaced'))).toHaveLength(1)
  })

test('a gateway that is stopped without a backup saves its data beside the place of the file', async () => {
  const { log, lines } = recordedLog()
  const world = await createWorld({ log, connect: false })
  await using _world = world
  for (let time = 0; time < 5; time++) await send(world)
  for (const suffix of ['', '-wal', '-shm', '.mark']) rmSync(join(world.folder, `sgw.db${suffix}`))
  await world.running.stop()
  const saved = readdirSync(world.folder).filter((name) => name.startsWith('sgw.db.saved-'))
  expect(saved).toHaveLength(1)
  using database = new Database(join(world.folder, saved[0] ?? ''), { readonly: true })
  expect(database.query('SELECT count(*) AS count FROM messages').get()).toEqual({ count: 5 })
  expect(lines.filter((line) => line.includes('its data was saved in this file'))).toHaveLength(1)
})

test('a stop after the log was deleted keeps everything in the database', async () => {
  const world = await createWorld({ connect: false })
  await using _world = world
  for (let time = 0; time < 5; time++) await send(world)
  rmSync(join(world.folder, 'sgw.db-wal'))
  await world.running.stop()
  using database = new Database(join(world.folder, 'sgw.db'), { readonly: true })
  expect(database.query('SELECT count(*) AS count FROM messages').get()).toEqual({ count: 5 })
})

test('a symbolic link in the place of the file counts as another file', async () => {
  await using world = await createWorld({ connect: false })
  const path = join(world.folder, 'sgw.db')
  renameSync(path, `${path}.real`)
  symlinkSync(`${path}.real`, path)
  expect((await send(world)).status).toBe(503)
})

test('an idle gateway notices it too, and goes on when the file is back', async () => {
  await using world = await createWorld({ connect: false, env: { ADMIN_PORT: '0' } })
  const path = join(world.folder, 'sgw.db')
  renameSync(path, `${path}.away`)
  expect(await ready(world)).toBe(503)
  renameSync(`${path}.away`, path)
  expect(await ready(world)).toBe(200)
  expect((await send(world)).status).toBe(202)
})

test('the doctor reads the file and not the memory of the gateway: damage on the disk is found', async () => {
  await using world = await createWorld({ connect: false })
  for (let time = 0; time < 30; time++) await send(world)
  const path = join(world.folder, 'sgw.db')
  expect(await checkOfDatabase(world)).toMatchObject({ level: 'ok' })
  await world.gateway.database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(await checkOfDatabase(world)).toMatchObject({ level: 'ok' })
  truncateSync(path, 3 * 4096)
  const found = await until(async () => {
    const finding = await checkOfDatabase(world)
    return finding?.level === 'fail' && finding
  })
  expect(found.detail).toMatch(/damaged \(|the database file was overwritten/)
})

test('a second name of the file and files that others can read are found by the doctor', async () => {
  await using world = await createWorld({ connect: false })
  const path = join(world.folder, 'sgw.db')
  linkSync(path, `${path}.other`)
  const linked = await checkOfDatabase(world)
  expect(linked?.level).toBe('fail')
  expect(linked?.detail).toContain('has 2 names (hard links)')
  rmSync(`${path}.other`)
  expect(await checkOfDatabase(world)).toMatchObject({ level: 'ok' })
  chmodSync(path, 0o644)
  const open = await checkOfDatabase(world)
  expect(open?.level).toBe('warn')
  expect(open?.detail).toContain(`other users can read ${path}`)
})

test('a young database whose log is gone is refused, with the reason and what to do, and is left as it is', async () => {
  await using world = await createWorld({ connect: false })
  const path = join(world.folder, 'sgw.db')
  const copy = join(world.folder, 'young.db')
  // What `kill -9` leaves of a gateway whose log was deleted: the first page, and the mark.
  const young = new Database(copy)
  young.run('PRAGMA journal_mode = WAL')
  const { config, clock } = world.gateway
  await world.running.stop()
  const whole = readFileSync(path)
  const start = async (): Promise<unknown> => {
    const running = await runGateway({ config, log: recordedLog().log, clock }).catch((error: unknown) => error)
    if (running instanceof Error) return { message: running.message, code: (running as StartError).exitCode }
    await (running as RunningGateway).stop()
    return 'started'
  }
  copyFileSync(copy, path)
  young.close()
  const refusal = {
    message: `${path} is empty, because its log was deleted: ${path}-wal had everything, and ${path}.mark says that a gateway has used it. Put the log back if you have it, or move ${path} away and restore the backup (sgw restore, docs/runbooks.md). Only to start with an empty database, remove ${path} and ${path}.mark`,
    code: 78,
  }
  const empty = readFileSync(path)
  expect([await start(), await start()]).toEqual([refusal, refusal])
  expect(readFileSync(path)).toEqual(empty)
  const doctor = await diagnoseOffline(config, 'why')
  expect(doctor.find(({ check }) => check === 'database')).toMatchObject({ level: 'fail', detail: refusal.message })
  writeFileSync(path, whole)
  expect(await start()).toBe('started')
  // Without a mark it is the file of a start that was killed at once.
  writeFileSync(path, empty)
  rmSync(`${path}.mark`)
  expect(await start()).toBe('started')
})
