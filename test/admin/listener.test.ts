import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdCalls } from '../support/held-calls.ts'
import { controlSocket } from '../support/litestream-socket.ts'
import { manualClock } from '../support/manual-clock.ts'
import { PROJECT } from '../support/program.ts'
import { type World, createWorld, until } from '../support/world.ts'

const withAdmin = (work = true) => createWorld({ env: { ADMIN_PORT: '0' }, work })

async function samples(world: World): Promise<Map<string, number>> {
  const response = await fetch(`${world.running.adminUrl}/metrics`)
  expect(response.status).toBe(200)
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

test('counts what was accepted, sent, failed and received, and calls by outcome', async () => {
  await using world = await withAdmin()
  await world.untilStatus(await world.send())
  await world.untilStatus(await world.send({ from: '+15555550142' }))
  await world.control.injectSms({ to: '+15555550100', from: '+15555550177', text: 'Hi' })
  const found = await until(async () => {
    const seen = await samples(world)
    return seen.get('sgw_messages_received_total') === 1 ? seen : null
  })
  expect(found.get('sgw_messages_accepted_total')).toBe(2)
  expect(found.get('sgw_messages_sent_total')).toBe(1)
  expect(found.get('sgw_messages_failed_total{reason="unknown_number"}')).toBe(1)
  expect(found.get('sgw_messages_failed_total{reason="rejected"}')).toBe(0)
  expect(found.get('sgw_provider_calls_total{operation="send_sms",outcome="ok"}')).toBe(1)
  expect(found.get('sgw_extensions{state="active"}')).toBe(1)
  // Two of each message that was sent or failed, one of the inbound one.
  expect(found.get('sgw_event_log_rows')).toBe(5)
  expect(found.get('sgw_database_bytes{file="database"}')).toBeGreaterThan(0)
  expect(found.get('sgw_database_bytes{file="wal"}')).toBeGreaterThan(0)
  expect(found.get('sgw_database_bytes{file="litestream"}')).toBe(0)
})

test('shows for how long the backup may lack changes, as Litestream says', async () => {
  await using world = await createWorld({ env: { ADMIN_PORT: '0', LITESTREAM: '1' } })
  mkdirSync(join(world.folder, '.sgw.db-litestream/ltx'), { recursive: true })
  expect((await samples(world)).get('sgw_backup_lag_seconds')).toBeNaN()
  await using litestream = controlSocket(world.folder)
  litestream.uploadedAt = Date.now() - 70_000
  const seconds = (await samples(world)).get('sgw_backup_lag_seconds')
  expect(seconds).toBeGreaterThanOrEqual(70)
  expect(seconds).toBeLessThan(80)
})

test('shows what waits and for how long', async () => {
  await using world = await withAdmin(false)
  await world.send()
  await world.send()
  const found = await samples(world)
  expect(found.get('sgw_queue_jobs{kind="send"}')).toBe(2)
  expect(found.get('sgw_queue_oldest_age_seconds')).toBeGreaterThanOrEqual(0)
  expect(found.get('sgw_open_attempts')).toBe(0)
})

test('shows how long a message has waited, whatever the wall-clock was set to since', async () => {
  const clock = manualClock()
  let aheadMs = 0
  await using world = await createWorld({
    clock: { ...clock, now: () => clock.now() + aheadMs },
    env: { ADMIN_PORT: '0' },
    work: false,
  })
  await world.send()
  clock.advance(60_000)
  aheadMs = 3_600_000
  expect((await samples(world)).get('sgw_queue_oldest_age_seconds')).toBe(60)
})

test('counts the sends whose outcome is not known yet', async () => {
  await using world = await withAdmin()
  for (const body of ['one', 'two']) {
    const release = holdCalls(world, 'sendSms')
    const id = await world.send({ body })
    await world.untilStatus(id, ['sending'])
    expect((await samples(world)).get('sgw_open_attempts')).toBe(1)
    release()
    await world.untilStatus(id, ['sent'])
  }
  expect((await samples(world)).get('sgw_open_attempts')).toBe(0)
})

test('names no tenant, number or message', async () => {
  await using world = await withAdmin()
  await world.untilStatus(await world.send())
  const text = await (await fetch(`${world.running.adminUrl}/metrics`)).text()
  expect(text).not.toMatch(/tenant_|app_|msg_|\+1555/)
})

test('is ready while it works, and not before or after', async () => {
  await using world = await withAdmin(false)
  const ready = async () => (await fetch(`${world.running.adminUrl}/ready`)).status
  expect(await ready()).toBe(503)
  world.running.work()
  expect(await ready()).toBe(200)
  world.gateway.lifecycle.draining = true
  expect(await ready()).toBe(503)
})

test('serves nothing else, and nothing on the public listener', async () => {
  await using world = await withAdmin()
  expect((await fetch(`${world.running.adminUrl}/v1/apps`)).status).toBe(404)
  expect((await fetch(`${world.running.adminUrl}/metrics`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${world.url}/metrics`)).status).toBe(404)
})

test('is off unless asked for', async () => {
  await using world = await createWorld()
  expect(world.running.adminUrl).toBeNull()
})

test('has every metric that the alert rules and the board ask for', async () => {
  await using world = await withAdmin()
  const text = await (await fetch(`${world.running.adminUrl}/metrics`)).text()
  const known = new Set(text.matchAll(/^# TYPE (\S+)/gm).map(([, name]) => name))
  const files = [join(PROJECT, 'deploy/prometheus/alerts.yml'), join(PROJECT, 'deploy/grafana/sgw.json')]
  const asked = files.flatMap((file) => readFileSync(file, 'utf8').match(/\b(sgw|process)_[a-z_]+/g) ?? [])
  expect(asked.length).toBeGreaterThan(20)
  expect(asked.filter((name) => !known.has(name.replace(/_bucket$/, '')))).toEqual([])
})
