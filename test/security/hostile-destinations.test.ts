import { describe, expect, test } from 'bun:test'
import { type AddressInfo, type Server, createServer } from 'node:net'
import { systemClock } from '../../src/core/clock.ts'
import { createTrigger } from '../../src/api/triggers/create-trigger.ts'
import { storeInbound } from '../../src/messages/inbound/store-inbound.ts'
import { AddressGuard } from '../../src/net/outbound/address-guard.ts'
import { WebhookPoster } from '../../src/net/outbound/webhook-poster.ts'
import { HOSTILE_URLS } from '../net/outbound/hostile-urls.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

// No packet is sent to a refused address, neither at registration nor if the database already has it.

const HTTPS = { 'x-forwarded-proto': 'https' }
const PRODUCTION = { env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' } }

interface Sinkhole extends AsyncDisposable {
  port: number
  connects(): number
}

/** Listens on every address of this machine and counts connections. */
async function sinkhole(host = '::', port = 0): Promise<Sinkhole> {
  let connects = 0
  const server: Server = createServer((socket) => {
    connects++
    socket.on('error', () => undefined).destroy()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connects: () => connects,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** Returns every hostile spelling. If only the host is hostile, it is also returned with the sinkhole's port. */
function hostileUrls(port: number): string[] {
  const all = Object.values(HOSTILE_URLS).flat()
  return [
    ...all,
    ...all.filter((url) => /^https:\/\/[^/]*[^/:]\/$/.test(url)).map((url) => `${url.slice(0, -1)}:${port}/`),
  ]
}

/** Records every address that the guard permits. */
function watchDials(world: World): string[] {
  const dialled: string[] = []
  const { guard } = world.gateway
  const resolve = guard.resolve.bind(guard)
  guard.resolve = async (...input) => {
    const found = await resolve(...input)
    if (found.ok) dialled.push(`${input[0].hostname} ${found.address}`)
    return found
  }
  return dialled
}

describe('hostile addresses in production', () => {
  test('are refused as webhookUrl and callbackUrl', async () => {
    await using hole = await sinkhole()
    await using world = await createWorld({ ...PRODUCTION, work: false })
    const urls = hostileUrls(hole.port)
    expect(urls.length).toBeGreaterThanOrEqual(160)
    const ask = (method: string, path: string, body: object) => world.call(method, path, { body, headers: HTTPS })
    const sinks: Readonly<Record<string, (url: string) => Promise<Response>>> = {
      register: (url) => ask('POST', '/v1/apps/register', { name: 'x', tenantId: world.tenantId, webhookUrl: url }),
      update: (url) => ask('PUT', `/v1/apps/${world.app.appId}`, { webhookUrl: url }),
      trigger: (url) => ask('POST', '/v1/triggers', { callbackUrl: url }),
    }
    for (const [name, sink] of Object.entries(sinks)) {
      const accepted = await Promise.all(
        urls.map(async (url) => ((await sink(url)).status === 400 ? [] : [`${name}: ${url}`])),
      )
      expect(accepted.flat()).toEqual([])
    }
    expect(hole.connects()).toBe(0)
  })

  test('are not dialled by test-webhook, even if the database has them', async () => {
    await using hole = await sinkhole()
    await using world = await createWorld({ ...PRODUCTION, work: false })
    const dialled = watchDials(world)
    for (const url of hostileUrls(hole.port)) {
      await world.gateway.database.writer.write([
        { sql: 'UPDATE apps SET webhook_url = ?2 WHERE id = ?1', args: [world.app.appId, url] },
      ])
      const { status, body } = await world.json('POST', `/v1/apps/${world.app.appId}/test-webhook`, { headers: HTTPS })
      expect({ url, status, body }).toMatchObject({ status: 200, body: { ok: false, status: 0 } })
      expect(JSON.stringify(body)).not.toMatch(/127\.|169\.254|10\.|192\.168/)
    }
    expect(dialled).toEqual([])
    expect(hole.connects()).toBe(0)
  })

  test('are not dialled by deliveries to apps and triggers, even if the database has them', async () => {
    await using hole = await sinkhole()
    await using world = await createWorld({ env: { ...PRODUCTION.env, MAX_TRIGGERS_PER_TENANT: '1000' } })
    const dialled = watchDials(world)
    const urls = hostileUrls(hole.port)
    const { writer, gate } = world.gateway.database
    const made = await Promise.all(
      urls.map(() => createTrigger(world.gateway, world.app, { callbackUrl: 'https://hooks.example.com/' })),
    )
    await writer.write(
      made.map(({ triggerId }, n) => ({
        sql: 'UPDATE triggers SET callback_url = ?2 WHERE id = ?1',
        args: [triggerId, urls[n] ?? ''],
      })),
    )
    await writer.write([
      {
        sql: 'UPDATE apps SET webhook_url = ?2 WHERE id = ?1',
        args: [world.app.appId, `https://127.0.0.1:${hole.port}/`],
      },
    ])
    await storeInbound(world.gateway, {
      tenantId: world.tenantId,
      extensionId: '1',
      providerMessageId: '1',
      from: TO,
      to: FROM,
      text: 'Hi',
    })
    const rows = await until(async () => {
      const closed = await gate.execute(
        'SELECT outcome, error_class, error_message FROM webhook_attempts WHERE outcome IS NOT NULL',
      )
      return closed.rows.length === urls.length + 1 ? closed.rows : null
    }, 20_000)
    expect(new Set(rows.map((row) => row['outcome']))).toEqual(new Set(['network_error']))
    expect(rows.filter((row) => row['error_class'] === 'BlockedAddress').length).toBeGreaterThan(urls.length - 10)
    expect(dialled).toEqual([])
    expect(hole.connects()).toBe(0)
  })
})

test('a name that changes its address between lookups never reaches an internal address: 0 of 200', async () => {
  await using honest = await sinkhole('127.0.0.2')
  await using inside = await sinkhole('127.0.0.1', honest.port)
  await using world = await createWorld({ ...PRODUCTION, work: false })
  const answers = [
    ['127.0.0.2'],
    ['127.0.0.1'],
    ['127.0.0.2', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.2'],
    ['::ffff:127.0.0.1'],
    ['127.0.0.2', '::1'],
  ]
  let lookups = 0
  const resolver = () =>
    Promise.resolve(
      (answers[lookups++ % answers.length] ?? []).map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      })),
    )
  // One loopback address represents a public address, and another one on the same port an internal address.
  const guard = new AddressGuard({ production: true, allowCidrs: ['127.0.0.2/32'], resolver })
  Object.assign(world.gateway, { guard, poster: new WebhookPoster({ guard, clock: systemClock }) })
  const url = `https://rebind.example:${honest.port}/hook`
  await world.gateway.database.writer.write([
    { sql: 'UPDATE apps SET webhook_url = ?2 WHERE id = ?1', args: [world.app.appId, url] },
  ])
  for (let round = 0; round < 200; round++)
    await world.json('POST', `/v1/apps/${world.app.appId}/test-webhook`, { headers: HTTPS })
  expect(inside.connects()).toBe(0)
  // The address of a good lookup was dialled, and no name was looked up twice.
  expect(lookups).toBe(200)
  expect(honest.connects()).toBe(Math.ceil(200 / answers.length))
})

test('a redirect is not followed', async () => {
  let asked = 0
  await using target = await sinkhole('127.0.0.1')
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      const status = [301, 302, 303, 307, 308][asked++ % 5] ?? 302
      return new Response(null, { status, headers: { location: `http://127.0.0.1:${target.port}/latest/meta-data/` } })
    },
  })
  await using world = await createWorld({ connect: false, work: false })
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: `http://127.0.0.1:${server.port}/` } })
  for (let round = 0; round < 5; round++) {
    const { body } = await world.json('POST', `/v1/apps/${world.app.appId}/test-webhook`)
    expect(body['ok']).toBe(false)
    expect(body['status']).toBeGreaterThanOrEqual(301)
  }
  await server.stop(true)
  expect({ asked, connects: target.connects() }).toEqual({ asked: 5, connects: 0 })
})
