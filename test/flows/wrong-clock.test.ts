import { expect, test } from 'bun:test'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { readConfig } from '../../src/core/config.ts'
import { createApp } from '../../src/operator/apps.ts'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { createTenant } from '../../src/operator/tenants.ts'
import { runGateway } from '../../src/server/run.ts'
import { expireMessages } from '../../src/messages/sending/expire.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, TO, World, recordedLog, until } from '../support/world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const CLIENT = { clientId: 'client', clientSecret: 'client-key' }

/** Has one provider, whose clock is right, and one data folder. Starts gateways whose clocks may be wrong. */
async function openSite(stack: AsyncDisposableStack) {
  const folder = stack.use(temporaryFolder())
  const clock = manualClock()
  const simulator = await startSimulator({ clock, ...CLIENT })
  stack.defer(() => simulator.stop())
  simulator.control.addExtension({ name: 'Alice', numbers: [FROM] })
  const { log, lines } = recordedLog()
  const start = async (own: ManualClock) => {
    const values = {
      NODE_ENV: 'test',
      PORT: '0',
      DATABASE_URL: `file:${folder.file('sgw.db')}`,
      RC_SERVER_URL: simulator.url,
      RC_CLIENT_ID: CLIENT.clientId,
      RC_CLIENT_SECRET: CLIENT.clientSecret,
    }
    const config = readConfig({ values, readFile: () => '' })
    if (!config.ok) throw new Error(config.problems.join('\n'))
    return runGateway({ config: config.config, log, clock: own })
  }
  const running = await start(clock)
  const { tenantId } = await createTenant(running.gateway, { name: 'First' })
  const app = await createApp(running.gateway, { tenantId, name: 'App', webhookUrl: null, role: 'app' })
  const worldOf = (other: typeof running) => new World(other, simulator.control, folder.file(''), app, false, null)
  const first = worldOf(running)
  expect((await first.connect()).ok).toBe(true)
  return { clock, lines, start, worldOf, first, control: simulator.control }
}

/** Stops the gateway, and starts it with a clock that differs by `offMs`. */
async function restart(stack: AsyncDisposableStack, site: Awaited<ReturnType<typeof openSite>>, offMs: number) {
  await site.first.running.stop()
  const own = manualClock(site.clock.now() + offMs)
  const running = await site.start(own)
  stack.defer(() => running.stop())
  const advance = (ms: number): void => {
    site.clock.advance(ms)
    own.advance(ms)
  }
  return { world: site.worldOf(running), advance }
}

const texts = ({ control }: World): (string | null)[] =>
  control.messages({ direction: 'Outbound' }).map(({ text }) => text)

/** Accepts messages before the restart: one with a key, and one for an hour later. */
async function sendBefore({ first, clock }: Awaited<ReturnType<typeof openSite>>) {
  const request = {
    body: { from: FROM, to: TO, body: 'with a key' },
    headers: { 'idempotency-key': 'key-1' },
  }
  const { body } = await first.json<{ messageId: string }>('POST', '/v1/sms/send', request)
  const sendAt = new Date(clock.now() + HOUR_MS).toISOString()
  return { request, waiting: body.messageId, later: await first.send({ body: 'later', sendAt }) }
}

test('a clock that is two days ahead at the start expires, sends early and purges nothing', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openSite(stack)
  const { request, waiting, later } = await sendBefore(site)
  const { world, advance } = await restart(stack, site, 2 * DAY_MS)
  world.running.work()
  expect(await world.untilStatus(waiting)).toMatchObject({ status: 'sent' })
  for (let minutes = 0; minutes < 10; minutes++) advance(MINUTE_MS)
  // By the wrong clock the key is older than a day. Without it, the message would be sent again.
  const again = await world.json<{ messageId: string }>('POST', '/v1/sms/send', request)
  expect(again.body.messageId).toBe(waiting)
  expect(await world.status(later)).toMatchObject({ status: 'queued' })
  expect(texts(world)).toEqual(['with a key'])
  advance(50 * MINUTE_MS)
  expect(await world.untilStatus(later)).toMatchObject({ status: 'sent' })
})

test('without any answer of the provider nothing expires for ten minutes, and then the gateway goes by its own clock', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openSite(stack)
  const { waiting, later } = await sendBefore(site)
  const { world, advance } = await restart(stack, site, 2 * DAY_MS)
  const call = (): Promise<never> => Promise.resolve({ ok: false, failure: UNREACHABLE } as never)
  Object.assign(world.gateway.provider, { refresh: call, listMessages: call, listNumbers: call, sendSms: call })
  world.running.work()
  for (let minutes = 0; minutes < 9; minutes++) {
    advance(MINUTE_MS)
    await Bun.sleep(1)
  }
  for (const id of [waiting, later]) expect(await world.status(id)).toMatchObject({ status: 'queued' })
  advance(MINUTE_MS)
  expect(world.gateway.clockCheck.isTrusted).toBe(true)
  await until(async () => {
    advance(1000)
    return (await world.status(waiting))['status'] === 'failed' && (await world.status(later))['status'] === 'failed'
  })
  const error = 'Message expired before it could be sent'
  for (const id of [waiting, later]) expect(await world.status(id)).toMatchObject({ error })
})

test('a scheduled message whose time comes while the clock is days ahead does not expire when the clock is right again', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openSite(stack)
  const later = await site.first.send({ body: 'later', sendAt: new Date(site.clock.now() + MINUTE_MS).toISOString() })
  await site.first.running.stop()
  let aheadMs = 0
  const running = await site.start({ ...site.clock, now: () => site.clock.now() + aheadMs })
  stack.defer(() => running.stop())
  const { gateway } = running
  running.work()
  await until(() => gateway.clockCheck.isTrusted)
  const [extension] = site.control.extensions()
  gateway.quota.pause(extension?.extensionId ?? '', 'medium', 10 * MINUTE_MS)
  aheadMs = 2 * DAY_MS
  site.clock.advance(MINUTE_MS)
  const world = site.worldOf(running)
  const entered = `SELECT 1 FROM jobs WHERE kind = 'send'`
  await until(async () => {
    site.clock.advance(1000)
    return (await gateway.database.gate.execute(entered)).rows.length === 1
  })
  aheadMs = 0
  await expireMessages(gateway.sending, gateway.lifecycle)
  expect(await world.status(later)).toMatchObject({ status: 'queued' })
  site.clock.advance(10 * MINUTE_MS)
  expect(await world.untilStatus(later)).toMatchObject({ status: 'sent' })
})

const UNREACHABLE = {
  reason: 'unreachable',
  status: null,
  code: 'ECONNREFUSED',
  message: 'The provider could not be reached (ECONNREFUSED)',
  oauthError: null,
  retryAfterMs: null,
  requestId: null,
}

test.each([
  ['ahead of', 2 * DAY_MS],
  ['behind', -DAY_MS],
])('a clock that is %s the provider’s is a failure of doctor, an alert and a log line', async (direction, offMs) => {
  await using stack = new AsyncDisposableStack()
  const site = await openSite(stack)
  const receiver = stack.use(startReceiver())
  const { world, advance } = await restart(stack, site, offMs)
  const { gateway } = world
  world.running.work()
  await until(() => gateway.clockCheck.isWrong)
  const fault = `This machine's clock is ${Math.abs(offMs) / 1000} s ${direction} the provider's`
  const doctor = (await diagnose(gateway)).find(({ check }) => check === 'clock')
  expect([doctor?.level, doctor?.detail.startsWith(fault)]).toEqual(['fail', true])
  const alerts = new Alerts(gateway, receiver.url)
  await alerts.run()
  advance(61_000)
  expect(site.lines.join('\n')).toContain(fault)
  await alerts.run()
  const posts = await receiver.received(1)
  const bodies = posts.map(({ body }) => JSON.stringify(body))
  expect(bodies).toContainEqual(expect.stringContaining(`"alert":"clock_wrong","state":"firing"`))
  expect(bodies.join('\n')).toContain(fault)
})

test('a clock that is nearly right is trusted from the first answer on', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openSite(stack)
  const { world } = await restart(stack, site, 4 * MINUTE_MS)
  const { clockCheck } = world.gateway
  expect(clockCheck.isTrusted).toBe(false)
  world.running.work()
  await until(() => clockCheck.isTrusted)
  expect(clockCheck.describe()).toBeNull()
})
