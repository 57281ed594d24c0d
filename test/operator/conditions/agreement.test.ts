import { afterEach, expect, spyOn, test } from 'bun:test'
import * as fs from 'node:fs'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '../../../src/operator/doctor/finding.ts'
import { controlSocket } from '../../support/litestream-socket.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { operate } from '../../support/operator.ts'
import { startReceiver } from '../../support/receiver.ts'
import { type World, createWorld, until } from '../../support/world.ts'

// One trouble has one text: what an alert says stands in the doctor's check, letter for letter.

const MINUTE = 60_000

interface Alert {
  alert: string
  subject: string
  text: string
  what: string
  fix: string
}

const spies: { mockRestore(): void }[] = []
afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore()
})

function setFreeBytes(bytes: number): void {
  spies.push(spyOn(fs, 'statfsSync').mockReturnValue({ bavail: bytes / 1024, bsize: 1024 } as never))
}

const readAlerts = async (world: World): Promise<Alert[]> =>
  (await operate<{ alerts: Alert[] }>(world, 'GET', '/v1/operator/alerts')).body.alerts

const readFinding = async (world: World, check: string): Promise<Finding | undefined> =>
  (await operate<Finding[]>(world, 'GET', '/v1/operator/doctor')).body.find((finding) => finding.check === check)

test('a disk with little room is an alert and a failure of the doctor by one limit, and messages are accepted until it is full', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld({ env: { ADMIN_PORT: '0', ALERT_URL: receiver.url } })
  const admin = async (path: string): Promise<string> => (await fetch(`${world.running.adminUrl}${path}`)).text()
  setFreeBytes(100 << 20)
  expect([await readAlerts(world), (await readFinding(world, 'disk'))?.detail]).toEqual([[], '100 MiB free'])
  setFreeBytes(57 << 20)
  const what = `The disk of ${join(world.folder, 'sgw.db')} has 57 MiB left`
  const fix = 'Free some space, or messages will be refused with 503.'
  const low = { alert: 'storage_failing', subject: 'disk', what, fix, text: `${what}. ${fix}` }
  expect(await readAlerts(world)).toMatchObject([low])
  expect(await readFinding(world, 'disk')).toMatchObject({ level: 'fail', detail: low.text })
  expect(await readFinding(world, 'database')).toMatchObject({ level: 'ok' })
  expect((await operate<{ storage: unknown }>(world, 'GET', '/v1/operator/status')).body.storage).toBeNull()
  expect(await admin('/ready')).toBe('{"status":"ready"}')
  expect(await admin('/metrics')).toMatch(/^sgw_storage_failing 0$/m)
  await receiver.received(1)
  expect(receiver.requests[0]?.body).toMatchObject({ ...low, state: 'firing' })
  setFreeBytes(100 << 10)
  expect(await admin('/ready')).toContain('storage unavailable')
  setFreeBytes(200 << 20)
  expect(await readAlerts(world)).toEqual([])
})

interface Cause {
  check: string
  level: Finding['level']
  env?: Record<string, string>
  begin(world: World, clock: ManualClock): Promise<unknown>
}

const sql = (world: World, statement: string): Promise<unknown> => world.gateway.database.gate.execute(statement)

const CAUSES: Record<string, Cause> = {
  storage_failing: {
    check: 'database',
    level: 'fail',
    begin: async ({ gateway: { database } }) => {
      const { rows } = await database.gate.execute('PRAGMA page_count')
      await database.gate.execute(`PRAGMA max_page_count = ${Number(rows[0]?.['page_count'])}`)
      database.storage?.failed('SQLITE_FULL')
    },
  },
  encryption_key_missing: {
    check: 'encryption keys',
    level: 'fail',
    begin: async (world) => {
      await sql(world, `UPDATE apps SET webhook_secret = '00000000:x'`)
      await world.gateway.lostKeys.check()
    },
  },
  backup_behind: {
    check: 'backup',
    level: 'fail',
    env: { LITESTREAM: '1' },
    begin: async ({ folder }) => mkdirSync(join(folder, '.sgw.db-litestream/ltx'), { recursive: true }),
  },
  extension_revoked: {
    check: 'extensions',
    level: 'fail',
    begin: async (world) => {
      await sql(world, `UPDATE extensions SET status = 'revoked'`)
      world.gateway.directory.forget(world.tenantId)
    },
  },
  extension_not_receiving: {
    check: 'subscriptions',
    level: 'warn',
    begin: async ({ control }) => {
      const body = {
        errorCode: 'CMN-408',
        message: 'In order to call this API endpoint, user needs to have [X] permission',
      }
      control.fault({ route: 'subscription-create', calls: null, fault: { kind: 'respond', status: 403, body } })
      for (const { subscriptionId } of control.subscriptions()) control.deleteSubscription({ subscriptionId })
    },
  },
  queue_old: {
    check: 'queue',
    level: 'warn',
    begin: async (world, clock) => {
      await sql(
        world,
        `UPDATE extensions SET status = 'refresh_failed', next_refresh_at = ${clock.now() + 60 * MINUTE}`,
      )
      world.gateway.directory.forget(world.tenantId)
      await world.send()
      clock.advance(11 * MINUTE)
    },
  },
}

test.each(Object.entries(CAUSES))('%s is told in the same words by alert and doctor', async (alert, cause) => {
  const clock = manualClock(Date.now())
  await using world = await createWorld({ clock, ...(cause.env === undefined ? {} : { env: cause.env }) })
  await using litestream = alert === 'backup_behind' ? controlSocket(world.folder) : null
  await cause.begin(world, clock)
  if (litestream !== null) litestream.uploadedAt = Date.now() - 5 * MINUTE
  const told = await until(async () => {
    clock.advance(MINUTE)
    return (await readAlerts(world)).find((one) => one.alert === alert) ?? null
  })
  expect(told.text).toBe(`${told.what}. ${told.fix}`)
  expect(told.fix).toMatch(/^(?:[A-Z]|sgw ).*\.$/)
  const finding = await readFinding(world, cause.check)
  expect([finding?.level, finding?.detail.replace(/\d+ (s|minutes)\b/, 'n')]).toEqual([
    cause.level,
    told.text.replace(/\d+ (s|minutes)\b/, 'n'),
  ])
})
