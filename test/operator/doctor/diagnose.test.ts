import { expect, test } from 'bun:test'
import { mkdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { extensions } from '../../../src/db/schema/connections.ts'
import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import type { Finding } from '../../../src/operator/doctor/finding.ts'
import { readStatus } from '../../../src/operator/status.ts'
import { controlSocket } from '../../support/litestream-socket.ts'
import { HOME, type World, createWorld } from '../../support/world.ts'

const findingOf = async (world: World, check: string): Promise<Finding | undefined> =>
  (await diagnose(world.gateway)).find((finding) => finding.check === check)

/** Replaces the proxy and the gateway behind it. */
function publicSide(status: number) {
  const server = Bun.serve({ port: 0, hostname: '::', fetch: () => new Response('{}', { status }) })
  return { url: `http://public.localhost:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) }
}

test('a healthy gateway passes every check', async () => {
  await using world = await createWorld()
  const findings = await diagnose(world.gateway)
  expect(findings.filter((finding) => !finding.ok)).toEqual([])
  expect(findings.map((finding) => finding.check)).toEqual(
    expect.arrayContaining(['clock', 'provider credentials', 'public address', 'backup', 'disk']),
  )
})

test('whether anybody is told of alerts', async () => {
  await using silent = await createWorld({ work: false })
  expect(await findingOf(silent, 'alerts')).toMatchObject({ level: 'ok', detail: expect.stringContaining('ALERT_URL') })
  await using told = await createWorld({ work: false, env: { ALERT_URL: 'http://127.0.0.1:9/chat' } })
  expect(await findingOf(told, 'alerts')).toMatchObject({ level: 'ok', detail: expect.stringContaining('--alert') })
})

test('a state that needs attention is a warning, and a state that an operator must fix is a failure', async () => {
  await using world = await createWorld({ work: false })
  const levels = async (check: string) => {
    const found = await findingOf(world, check)
    return { ok: found?.ok, level: found?.level }
  }
  expect(await levels('server')).toEqual({ ok: true, level: 'warn' })
  expect(await levels('extensions')).toEqual({ ok: true, level: 'ok' })
  const { gate } = world.gateway.database
  await gate.execute("UPDATE subscriptions SET status = 'pending'")
  expect(await levels('subscriptions')).toEqual({ ok: true, level: 'warn' })
  await gate.execute("UPDATE extensions SET status = 'refresh_failed'")
  expect(await levels('extensions')).toEqual({ ok: true, level: 'warn' })
  await gate.execute("UPDATE extensions SET status = 'revoked'")
  expect(await levels('extensions')).toEqual({ ok: false, level: 'fail' })
  await gate.execute('DROP TABLE subscriptions')
  expect(await levels('subscriptions')).toEqual({ ok: false, level: 'fail' })
})

test('the credentials are checked separately: a wrong secret fails although the provider can be reached', async () => {
  await using right = await createWorld({ env: { NODE_ENV: 'production' } })
  expect(await findingOf(right, 'provider credentials')).toMatchObject({ ok: true })
  await using wrong = await createWorld({ env: { NODE_ENV: 'production', RC_CLIENT_SECRET: 'not-the-right-one' } })
  expect(await findingOf(wrong, 'provider')).toMatchObject({ ok: true })
  expect(await findingOf(wrong, 'provider credentials')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('RC_CLIENT_SECRET'),
  })
})

test.each([
  ['a page of a firewall', 403, '<html>Request blocked</html>'],
  ['a login page of the network', 200, '<html>Welcome to the hotel</html>'],
  ['a redirect to such a page', 302, ''],
  ['JSON of another program', 404, '{"message":"no Route matched with those values"}'],
])('%s (%d) in place of the provider is a warning', async (_, status, body) => {
  await using world = await createWorld({ outside: true, work: false })
  expect(await findingOf(world, 'provider')).toMatchObject({ level: 'ok' })
  world.control.fault({ route: 'probe', fault: { kind: 'respond', status, body, headers: { Location: world.url } } })
  expect(await findingOf(world, 'provider')).toMatchObject({
    level: 'warn',
    detail: expect.stringContaining(`answers ${status}, but not as RingCentral does`),
  })
  const wrong = { Date: 'Sat, 21 Nov 2020 02:30:00 GMT', Location: world.url }
  world.control.fault({ route: 'probe', calls: null, fault: { kind: 'respond', status, body, headers: wrong } })
  expect(await findingOf(world, 'clock')).toMatchObject({ level: 'warn' })
})

/** Stands between the gateway and the provider, and answers the doctor's calls without credentials with a body that has no end. */
function endlessProxy(simulatorUrl: string) {
  const sent = { bytes: 0 }
  const piece = new Uint8Array(64 * 1024).fill(0x20)
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    sent.bytes += piece.length
    controller.enqueue(piece)
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      if (pathname === '/restapi' || search.includes('prompt=none'))
        return new Response(new ReadableStream({ pull }), { status: 400 })
      return fetch(new Request(`${simulatorUrl}${pathname}${search}`, request), { redirect: 'manual' })
    },
  })
  return { sent, url: server.url.origin, stop: () => server.stop(true) }
}

test('an answer without end in place of the provider is not read on, and is a warning', async () => {
  let proxy: ReturnType<typeof endlessProxy> | null = null
  await using world = await createWorld({ work: false, between: (url) => (proxy = endlessProxy(url)).url })
  const { sent, stop } = proxy as unknown as ReturnType<typeof endlessProxy>
  const findings = await diagnose(world.gateway)
  for (const check of ['provider', 'clock', 'redirect address'])
    expect([check, findings.find((finding) => finding.check === check)?.level]).toEqual([check, 'warn'])
  // What is under way when the gateway stops reading fills buffers of some megabytes.
  expect(sent.bytes).toBeLessThan(50_000_000)
  await stop()
})

test('a wrong clock is reported with its fix, by the limit of the alert', async () => {
  await using world = await createWorld({ env: { NODE_ENV: 'production' } })
  expect(await findingOf(world, 'clock')).toMatchObject({ ok: true })
  const { clock } = world.gateway
  world.gateway.clock = { ...clock, now: () => clock.now() + 4 * 60_000 }
  expect(await findingOf(world, 'clock')).toMatchObject({ ok: true })
  world.gateway.clock = { ...clock, now: () => clock.now() + 6 * 60_000 }
  expect(await findingOf(world, 'clock')).toMatchObject({ ok: false, detail: expect.stringContaining('NTP') })
})

test('the public address must lead to this gateway, through a trusted proxy', async () => {
  await using world = await createWorld({ env: { NODE_ENV: 'production' } })
  const at = async (status: number): Promise<Finding | undefined> => {
    await using side = publicSide(status)
    world.gateway.config.publicUrl = side.url
    return await findingOf(world, 'public address')
  }
  expect(await at(401)).toMatchObject({ ok: true })
  expect(await at(403)).toMatchObject({ ok: false, detail: expect.stringContaining('TRUSTED_PROXIES') })
  expect(await at(502)).toMatchObject({ ok: false, detail: expect.stringContaining('502') })
  world.gateway.config.publicUrl = 'https://sgw.invalid'
  expect(await findingOf(world, 'public address')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('cannot be reached'),
  })
})

test('a gateway at home has no red line for a public address, and the doctor says what comes instead', async () => {
  await using world = await createWorld({ env: HOME })
  const findings = await diagnose(world.gateway)
  expect(findings.filter(({ ok }) => !ok)).toEqual([])
  const none = 'none: inbound messages come over sockets that this gateway opens, and only programs on this machine'
  expect(await findingOf(world, 'public address')).toMatchObject({ level: 'ok', detail: `${none} call it` })
  expect(await findingOf(world, 'redirect address')).toMatchObject({
    level: 'ok',
    detail: 'none: extensions are connected with a JWT',
  })
  expect(await findingOf(world, 'extensions')).toMatchObject({ detail: expect.stringContaining('connect-jwt') })
  await using wider = await createWorld({ env: { ...HOME, PLAIN_HTTP_CIDRS: '172.17.0.0/16,192.168.1.7' } })
  expect(await findingOf(wider, 'public address')).toMatchObject({
    level: 'ok',
    detail: `${none} or in 172.17.0.0/16, 192.168.1.7/32 call it`,
  })
})

test('an app for JWTs needs no redirect address, and events by WebSocket need no address that RingCentral reaches', async () => {
  const local = { RC_EVENTS: 'websocket', PUBLIC_URL: 'https://localhost' }
  await using world = await createWorld({ outside: true, work: false, env: { ...local, RC_JWT: 'a.b.c' } })
  expect(await findingOf(world, 'redirect address')).toMatchObject({ detail: expect.stringMatching(/^none: /) })
  expect(await findingOf(world, 'public address')).toMatchObject({
    level: 'ok',
    detail: expect.stringContaining('enough for a browser here'),
  })
  await using connected = await createWorld({ outside: true, work: false, env: local })
  expect(await findingOf(connected, 'redirect address')).toMatchObject({
    detail: expect.stringContaining('is accepted'),
  })
  await connected.gateway.database.orm.update(extensions).set({ jwt: 'encrypted' })
  expect(await findingOf(connected, 'redirect address')).toMatchObject({ detail: expect.stringMatching(/^none: /) })
  await using posted = await createWorld({ outside: true, work: false, env: { ...local, RC_EVENTS: 'webhook' } })
  expect(await findingOf(posted, 'public address')).toMatchObject({ ok: false })
})

test('what the doctor says of a gateway without an active extension, or without a link, is so', async () => {
  await using world = await createWorld({ connect: false })
  expect(await findingOf(world, 'subscriptions')).toMatchObject({ detail: 'none needed: no extension is active' })
  await using unrefreshed = await createWorld({ work: false })
  await unrefreshed.gateway.database.gate.execute(`UPDATE extensions SET status = 'refresh_failed'`)
  expect(await findingOf(unrefreshed, 'subscriptions')).toMatchObject({
    detail: 'no extension is active, but 1 subscription still brings texts',
  })
  await using home = await createWorld({ env: { ...HOME, RC_JWT: 'a.b.c' }, work: false })
  const { detail = '' } = (await findingOf(home, 'extensions')) ?? {}
  expect(detail).toContain('none connected yet: run sgw extensions connect-jwt')
  const local = { RC_EVENTS: 'websocket', PUBLIC_URL: 'https://localhost', RC_JWT: 'a.b.c' }
  await using linked = await createWorld({ outside: true, work: false, env: local })
  expect(await findingOf(linked, 'redirect address')).toMatchObject({
    detail: 'none: extensions are connected with a JWT, and only a link would use https://localhost/v1/rc/callback',
  })
})

test('a backup that makes no progress is reported, as Litestream reports it', async () => {
  await using world = await createWorld({ env: { LITESTREAM: '1' } })
  expect(await findingOf(world, 'backup')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('has not started'),
  })
  const notes = join(world.folder, '.sgw.db-litestream')
  mkdirSync(notes)
  writeFileSync(join(notes, 'generation'), '')
  expect(await findingOf(world, 'backup')).toMatchObject({
    level: 'warn',
    detail: expect.stringContaining('does not report how far'),
  })
  await using litestream = controlSocket(world.folder)
  expect(await findingOf(world, 'backup')).toMatchObject({ ok: true, detail: expect.stringContaining('s behind') })
  // Litestream keeps writing its own files while the storage cannot be reached, so the doctor must ignore their times.
  litestream.uploadedAt = Date.now() - 5 * 60_000
  expect(await findingOf(world, 'backup')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/behind for 30\d s\. .* keep the volume/),
  })
  const { backup } = await readStatus(world.gateway)
  expect(backup.litestream).toBe(true)
  expect(backup.lagMs).toBeGreaterThan(299_000)
})

test('a backup without an upload since the start of Litestream is as old as that start', async () => {
  await using world = await createWorld({ env: { LITESTREAM: '1' } })
  mkdirSync(join(world.folder, '.sgw.db-litestream/ltx'), { recursive: true })
  await using litestream = controlSocket(world.folder)
  litestream.uploadedAt = null
  expect(await findingOf(world, 'backup')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/behind for (9\d|1\d\d) s\b/),
  })
})

test('a Litestream that no longer reads the WAL is reported, although it has uploaded everything that it read', async () => {
  await using world = await createWorld({ env: { LITESTREAM: '1' } })
  const notes = join(world.folder, '.sgw.db-litestream')
  mkdirSync(notes)
  writeFileSync(join(notes, 'generation'), '')
  await using _litestream = controlSocket(world.folder)
  const before = new Date(Date.now() - 5 * 60_000)
  utimesSync(join(notes, 'generation'), before, before)
  expect(await findingOf(world, 'backup')).toMatchObject({ ok: false, detail: expect.stringContaining('behind for') })
})

test('a backup that is not uploaded is reported', async () => {
  await using world = await createWorld({ env: { LITESTREAM: '1' } })
  const notes = join(world.folder, '.sgw.db-litestream')
  mkdirSync(join(notes, 'wal'), { recursive: true })
  writeFileSync(join(notes, 'wal/00000001.wal'), '')
  await using _litestream = controlSocket(world.folder)
  expect(await findingOf(world, 'backup')).toMatchObject({ ok: true })
  truncateSync(join(notes, 'wal/00000001.wal'), 300 * 1_048_576)
  expect(await findingOf(world, 'backup')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('keeps 300 MiB beside the database'),
  })
  expect((await readStatus(world.gateway)).backup).toMatchObject({ keptBytes: 300 * 1_048_576 })
})

test('a WAL that is not checkpointed is reported', async () => {
  await using world = await createWorld({ env: { LITESTREAM: '1' }, work: false })
  // SQLite reads only its own frames, and ignores the bytes after them.
  truncateSync(join(world.folder, 'sgw.db-wal'), 300 * 1_048_576)
  expect(await findingOf(world, 'backup')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('does not copy'),
  })
})
