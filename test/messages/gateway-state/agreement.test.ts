import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Alerts } from '../../../src/operator/alerts/alerts.ts'
import { textOf } from '../../../src/operator/conditions/condition.ts'
import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import { readStatus } from '../../../src/operator/status.ts'
import { ClockCheck } from '../../../src/provider/clock-check.ts'
import { controlSocket } from '../../support/litestream-socket.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { operate } from '../../support/operator.ts'
import { type World, createWorld } from '../../support/world.ts'

const MINUTE = 60_000

/** Everything that answers how the gateway is, at the same moment. */
async function ask(world: World, clock: ManualClock) {
  const alerts = new Alerts(world.gateway, null)
  await alerts.run()
  // Some conditions must last for a minute.
  clock.advance(MINUTE)
  await alerts.run()
  const metrics = await (await fetch(`${world.running.adminUrl}/metrics`)).text()
  const findings = await diagnose(world.gateway)
  return {
    status: await readStatus(world.gateway),
    overview: (await world.json('GET', '/v1/overview')).body,
    gauge: (name: string): number =>
      Number(
        metrics
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      ),
    alert: (name: string) => world.gateway.alerts.firing.find(({ alert }) => alert === name),
    doctor: (name: string) => findings.find(({ check }) => check === name),
  }
}

test('a suspended tenant’s old message is counted, and hides the oldest one of another from none', async () => {
  const clock = manualClock(Date.now())
  await using world = await createWorld({ clock, connect: false, work: false, env: { ADMIN_PORT: '0' } })
  const held = await world.otherTenant()
  await world.send({}, { key: held.apiKey })
  const sql = `UPDATE tenants SET status = 'suspended' WHERE id = ?1`
  await world.gateway.database.gate.execute({ sql, args: [held.tenantId] })
  clock.advance(60 * MINUTE)
  const none = await ask(world, clock)
  expect(none.status.queue).toMatchObject({ send: 1, oldestQueuedAt: null })
  expect([none.gauge('sgw_queue_jobs{kind="send"}'), none.gauge('sgw_queue_oldest_age_seconds')]).toEqual([1, 0])
  expect(none.alert('queue_old')).toBeUndefined()
  const messageId = await world.send()
  const at = clock.now()
  clock.advance(10 * MINUTE)
  const { status, overview, gauge, alert } = await ask(world, clock)
  expect(status.queue).toMatchObject({ send: 2, oldestQueuedAt: new Date(at).toISOString() })
  expect(overview['oldestQueuedAt']).toBe(new Date(at).toISOString())
  expect([gauge('sgw_queue_jobs{kind="send"}'), gauge('sgw_queue_oldest_age_seconds')]).toEqual([2, 660])
  expect(alert('queue_old')).toMatchObject({ since: at, detail: { messageId, waitingSeconds: 660 } })
})

test.each([
  ['a minute', 50, false],
  ['over a minute', 70, true],
])('a backup that is behind by %s', async (_name, seconds, isBehind) => {
  const clock = manualClock(Date.now())
  await using world = await createWorld({ clock, work: false, env: { ADMIN_PORT: '0', LITESTREAM: '1' } })
  mkdirSync(join(world.folder, '.sgw.db-litestream/ltx'), { recursive: true })
  await using litestream = controlSocket(world.folder)
  litestream.uploadedAt = Date.now() - seconds * 1000
  const { status, gauge, alert, doctor } = await ask(world, clock)
  expect(status.backup.lagMs).toBeGreaterThanOrEqual(seconds * 1000)
  expect(gauge('sgw_backup_lag_seconds')).toBeGreaterThanOrEqual(seconds)
  expect([alert('backup_behind') !== undefined, doctor('backup')?.ok === false]).toEqual([isBehind, isBehind])
})

test.each([
  ['four minutes', 4, false],
  ['six minutes', 6, true],
])('a clock that is %s ahead', async (_name, minutes, isWrong) => {
  const clock = manualClock(Date.now())
  await using world = await createWorld({ clock, work: false, outside: true, env: { ADMIN_PORT: '0' } })
  const ahead = { ...clock, now: () => clock.now() + minutes * MINUTE }
  Object.assign(world.gateway, { clock: ahead, clockCheck: new ClockCheck(ahead, world.gateway.provider) })
  const { alert, doctor } = await ask(world, clock)
  expect([alert('clock_wrong') !== undefined, doctor('clock')?.ok === false]).toEqual([isWrong, isWrong])
  const wrong = alert('clock_wrong')
  if (isWrong) expect(wrong && textOf(wrong)).toBe(doctor('clock')?.detail ?? '')
})

test('a subscription that has expired brings nothing', async () => {
  const clock = manualClock(Date.now())
  await using world = await createWorld({ clock, work: false, env: { ADMIN_PORT: '0' } })
  expect((await ask(world, clock)).status.subscriptions).toMatchObject({ active: 1, pending: 0 })
  await world.gateway.database.gate.execute('UPDATE subscriptions SET expires_at = 1')
  const { status, gauge, alert, doctor } = await ask(world, clock)
  expect(status.subscriptions).toEqual({ active: 0, pending: 1, earliestExpiry: null })
  expect(gauge('sgw_extensions_not_receiving')).toBe(1)
  expect(alert('extension_not_receiving')).toBeDefined()
  expect(doctor('subscriptions')).toMatchObject({
    level: 'warn',
    detail: expect.stringMatching(/^Extension \d+ of \S+ does not receive events\. /),
  })
  expect(gauge('sgw_alerts_firing')).toBe(world.gateway.alerts.firing.length)
})

test('the extensions of a tenant that has left trouble nobody: doctor, alerts, status and metrics leave them out', async () => {
  const clock = manualClock(Date.now())
  await using world = await createWorld({ clock, work: false, env: { ADMIN_PORT: '0' } })
  const { tenantId } = world
  const [{ extensionId } = { extensionId: '' }] = world.control.extensions()
  await world.gateway.database.gate.execute('UPDATE subscriptions SET expires_at = 1')
  const failure = {
    reason: 'rejected',
    status: 403,
    code: 'CMN-401',
    message: 'Forbidden',
    oauthError: null,
    retryAfterMs: null,
    requestId: null,
  } as const
  const refusal = { tenantId, extensionId, step: 'numbers', failure } as const
  world.gateway.directory.refusals.note(refusal, clock.now())
  const refused = await ask(world, clock)
  expect(['authorization', 'subscriptions'].map((name) => refused.doctor(name)?.level)).toEqual(['fail', 'warn'])
  expect(refused.alert('extension_not_receiving')).toBeDefined()
  await world.gateway.database.gate.execute(`UPDATE extensions SET status = 'revoked'`)
  const before = await ask(world, clock)
  expect(before.doctor('extensions')?.ok).toBe(false)
  expect(before.alert('extension_revoked')).toBeDefined()
  expect(before.gauge('sgw_extensions{state="revoked"}')).toBe(1)
  await operate(world, 'PUT', `/v1/operator/tenants/${tenantId}`, { status: 'inactive' })
  const { status, gauge, alert, doctor } = await ask(world, clock)
  // No server works here, so the authorization cannot be known.
  expect(['extensions', 'authorization', 'subscriptions'].map((name) => doctor(name)?.level)).toEqual([
    'ok',
    'warn',
    'ok',
  ])
  expect([alert('extension_revoked'), alert('extension_not_receiving')]).toEqual([undefined, undefined])
  expect(status.extensions).toEqual({ active: 0, refresh_failed: 0, revoked: 0 })
  expect(status.subscriptions).toEqual({ active: 0, pending: 0, earliestExpiry: null })
  expect([gauge('sgw_extensions{state="revoked"}'), gauge('sgw_extensions_not_receiving')]).toEqual([0, 0])
  // Suspended is not left: somebody wants it back.
  await operate(world, 'PUT', `/v1/operator/tenants/${tenantId}`, { status: 'suspended' })
  expect((await ask(world, clock)).doctor('extensions')?.ok).toBe(false)
})
