import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { holdCalls } from '../../support/held-calls.ts'
import { ask } from '../../support/raw-http.ts'
import { controlSocket } from '../../support/litestream-socket.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { PROJECT } from '../../support/program.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const withAdmin = (work = true) => createWorld({ env: { ADMIN_PORT: '0' }, work })

async function samples(world: World): Promise<Map<string, number>> {
  const response = await fetch(`${world.running.adminUrl}/metrics`)
  expect(response.status).toBe(200)
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

test('/metrics counts accepted, sent, failed and received messages, and provider calls by outcome', async () => {
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
  const { rows } = await world.gateway.database.gate.execute('SELECT count(*) AS count FROM events')
  expect(Number(rows[0]?.['count'])).toBeGreaterThanOrEqual(5)
  expect(found.get('sgw_event_log_rows')).toBe(Number(rows[0]?.['count']))
  expect(found.get('sgw_database_bytes{file="database"}')).toBeGreaterThan(0)
  expect(found.get('sgw_database_bytes{file="wal"}')).toBeGreaterThan(0)
  expect(found.get('sgw_database_bytes{file="litestream"}')).toBe(0)
})

test('/metrics shows the lag of the backup that Litestream reports', async () => {
  await using world = await createWorld({ env: { ADMIN_PORT: '0', LITESTREAM: '1' } })
  mkdirSync(join(world.folder, '.sgw.db-litestream/ltx'), { recursive: true })
  expect((await samples(world)).get('sgw_backup_lag_seconds')).toBeNaN()
  await using litestream = controlSocket(world.folder)
  litestream.uploadedAt = Date.now() - 70_000
  const seconds = (await samples(world)).get('sgw_backup_lag_seconds')
  expect(seconds).toBeGreaterThanOrEqual(70)
  expect(seconds).toBeLessThan(80)
})

test('/metrics shows the number of waiting jobs and the age of the oldest one', async () => {
  await using world = await withAdmin(false)
  await world.send()
  await world.send()
  const found = await samples(world)
  expect(found.get('sgw_queue_jobs{kind="send"}')).toBe(2)
  expect(found.get('sgw_queue_oldest_age_seconds')).toBeGreaterThanOrEqual(0)
  expect(found.get('sgw_open_attempts')).toBe(0)
})

test('/metrics shows how long a message has waited, even if the wall clock was set meanwhile', async () => {
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

test('/metrics counts attempts whose outcome is not known yet', async () => {
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

test('/metrics names no tenant, number or message', async () => {
  await using world = await withAdmin()
  await world.untilStatus(await world.send())
  const text = await (await fetch(`${world.running.adminUrl}/metrics`)).text()
  expect(text).not.toMatch(/tenant_|app_|msg_|\+1555/)
})

test('/ready is 200 only while the workers run', async () => {
  await using world = await withAdmin(false)
  const ready = async () => (await fetch(`${world.running.adminUrl}/ready`)).status
  expect(await ready()).toBe(503)
  world.running.work()
  expect(await ready()).toBe(200)
  world.gateway.lifecycle.draining = true
  expect(await ready()).toBe(503)
})

test('the admin listener serves nothing else, and the public listener serves no metrics', async () => {
  await using world = await withAdmin()
  expect((await fetch(`${world.running.adminUrl}/v1/apps`)).status).toBe(404)
  expect((await fetch(`${world.running.adminUrl}/metrics`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${world.url}/metrics`)).status).toBe(404)
})

test('the admin listener is off by default', async () => {
  await using world = await createWorld()
  expect(world.running.adminUrl).toBeNull()
})

test('/metrics has every metric that the alert rules and the dashboard use', async () => {
  await using world = await withAdmin()
  const text = await (await fetch(`${world.running.adminUrl}/metrics`)).text()
  const known = new Set(text.matchAll(/^# TYPE (\S+)/gm).map(([, name]) => name))
  const files = [join(PROJECT, 'deploy/prometheus/alerts.yml'), join(PROJECT, 'deploy/grafana/sgw.json')]
  const used = files.flatMap((file) => readFileSync(file, 'utf8').match(/\b(sgw|process)_[a-z_]+/g) ?? [])
  expect(used.length).toBeGreaterThan(20)
  expect(used.filter((name) => !known.has(name.replace(/_bucket$/, '')))).toEqual([])
})

test('/metrics tells a page nothing whose name was made to resolve to this machine, and /ready answers any name', async () => {
  await using world = await withAdmin(false)
  const statusOf = async (path: string, ...lines: string[]): Promise<number> =>
    (await ask(world.running.adminUrl ?? '', [`GET ${path} HTTP/1.1`, 'Connection: close', ...lines])).status
  for (const host of ['localhost:9464', '127.0.0.1:9464', '[::1]:9464', 'sgw', 'nas.local', '172.17.0.1:9464'])
    expect([host, await statusOf('/metrics', `Host: ${host}`)]).toEqual([host, 200])
  for (const host of ['evil.example', 'evil.example:9464', 'localhost.evil.example', '127.0.0.1.nip.io', 'sgw.'])
    expect([host, await statusOf('/metrics', `Host: ${host}`)]).toEqual([host, 403])
  expect(await ask(world.running.adminUrl ?? '', ['GET /metrics HTTP/1.1', 'Host: evil.example'])).toMatchObject({
    body: '{"error":"Forbidden"}',
  })
  expect(await statusOf('/ready', 'Host: gateway.example')).toBe(503)
  expect(await statusOf('/nothing', 'Host: evil.example')).toBe(404)
})
