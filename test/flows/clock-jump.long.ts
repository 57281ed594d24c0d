import { expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import { silentLog } from '../../src/core/log.ts'
import { createApp } from '../../src/operator/apps.ts'
import { createTenant } from '../../src/operator/tenants.ts'
import { type RunningGateway, runGateway } from '../../src/server/run.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { FROM, World } from '../support/world.ts'

const HOUR_MS = 3_600_000
const MONTH_MS = 30 * 24 * HOUR_MS
const TIMEOUT_MS = 90_000
/** No message may wait longer than this. */
const STUCK_MS = 60_000
const JUMPS: [name: string, ms: number][] = [
  ['forward', HOUR_MS],
  ['back', -HOUR_MS],
]

/** The gateway's clock. `now` jumps at once, and `steady` only at the next start, as in a real process. */
class JumpingClock implements Clock {
  offsetMs = 0
  constructor(readonly startedOffMs = 0) {
    this.offsetMs = startedOffMs
  }
  now = (): number => systemClock.now() + this.offsetMs
  steady = (): number => systemClock.steady() + this.startedOffMs
  monotonic = (): number => systemClock.monotonic()
  after = (delayMs: number, callback: () => void): (() => void) => systemClock.after(delayMs, callback)
}

/** Starts a gateway with this clock. The provider's clock is right. */
async function startWorld(clock: Clock, simulator: Simulator, folder: string): Promise<World> {
  const values = {
    NODE_ENV: 'test',
    PORT: '0',
    RC_SERVER_URL: simulator.url,
    RC_CLIENT_ID: 'app',
    RC_CLIENT_SECRET: 'secret of the app',
    DATABASE_URL: `file:${join(folder, 'sgw.db')}`,
    KEY_LIMIT_PER_MINUTE: '100000',
    FROM_LIMIT_PER_MINUTE: '1000',
    EXTENSION_LIMIT_PER_MINUTE: '1000',
    RECONCILE_SETTLE: '2s',
    RECONCILE_SETTLE_5XX: '500ms',
  }
  const read = readConfig({ values, readFile: () => '' })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const running = await runGateway({ config: read.config, log: silentLog, clock })
  return new World(running, simulator.control, folder, await firstApp(running), true, null)
}

async function firstApp({ gateway }: RunningGateway) {
  const { tenantId } = await createTenant(gateway, { name: 'First' })
  return createApp(gateway, { tenantId, name: 'First app', webhookUrl: null, role: 'app' })
}

async function startProvider(): Promise<Simulator> {
  const simulator = await startSimulator({
    clock: systemClock,
    clientId: 'app',
    clientSecret: 'secret of the app',
    limits: false,
  })
  simulator.control.addExtension({ name: 'Alice', numbers: [FROM] })
  return simulator
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'sgw-clock-'))

/** Makes sends fail in every way: lost before and after acceptance, refused, and deferred. */
function addFaults({ control }: Simulator): void {
  control.fault({ route: 'sms', fault: { kind: 'reset' } })
  control.fault({ route: 'sms', fault: { kind: 'accept-then-reset' } })
  control.fault({ route: 'sms', fault: { kind: 'accept-then-respond', status: 502 } })
  control.fault({ route: 'sms', fault: { kind: 'respond', status: 500 } })
  control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '1' } } })
}

async function sendTen(world: World, round: string): Promise<string[]> {
  const numbers = Array.from({ length: 10 }, (_, number) => number)
  return Promise.all(numbers.map((number) => world.send({ body: `${round} ${number}` })))
}

async function expectSentOnce(world: World, messageIds: readonly string[]): Promise<void> {
  for (const messageId of messageIds)
    expect(await world.untilStatus(messageId, ['sent', 'failed'], STUCK_MS)).toMatchObject({ status: 'sent' })
  const texts = world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)
  expect(texts).toHaveLength(messageIds.length)
  expect(new Set(texts).size).toBe(messageIds.length)
}

test.concurrent.each(JUMPS)(
  'if the clock jumps %s by an hour, every message is sent once and none waits for over a minute',
  async (_name, jumpMs) => {
    const clock = new JumpingClock()
    const simulator = await startProvider()
    await using world = await startWorld(clock, simulator, newFolder())
    await world.connect()
    world.running.work()
    addFaults(simulator)
    const before = await sendTen(world, 'Before')
    await Bun.sleep(100)
    clock.offsetMs = jumpMs
    const after = await sendTen(world, 'After')
    await expectSentOnce(world, [...before, ...after])
    await simulator.stop()
  },
  TIMEOUT_MS,
)

test.concurrent.each(JUMPS)(
  'if the clock is set %s by an hour between two starts, waiting messages are sent once and at once',
  async (_name, jumpMs) => {
    const folder = newFolder()
    const simulator = await startProvider()
    const first = await startWorld(new JumpingClock(), simulator, folder)
    await first.connect()
    const waiting = await sendTen(first, 'Waiting')
    await first.running.stop()
    addFaults(simulator)
    await using second = await startWorld(new JumpingClock(jumpMs), simulator, folder)
    second.running.work()
    const sameApp = new World(second.running, second.control, folder, first.app, false, null)
    await expectSentOnce(sameApp, waiting)
    await simulator.stop()
  },
  TIMEOUT_MS,
)

const extensionStatus = async (world: World): Promise<unknown> =>
  (await world.json<{ extensions: { status: string }[] }>('GET', '/v1/rc/extensions')).body.extensions[0]?.status

test('a clock that jumps forward by 30 days revokes no extension, because the provider still accepts its tokens', async () => {
  const clock = new JumpingClock()
  const simulator = await startProvider()
  await using world = await startWorld(clock, simulator, newFolder())
  await world.connect()
  world.running.work()
  clock.offsetMs = MONTH_MS
  for (const body of ['One', 'Two'])
    expect(await world.untilStatus(await world.send({ body }))).toMatchObject({ status: 'sent' })
  expect(await extensionStatus(world)).toBe('active')
  clock.offsetMs = 0
  expect(await world.untilStatus(await world.send({ body: 'Three' }))).toMatchObject({ status: 'sent' })
  await simulator.stop()
})

test('a clock that was set forward by 30 days between two starts revokes no extension', async () => {
  const folder = newFolder()
  const simulator = await startProvider()
  const first = await startWorld(new JumpingClock(), simulator, folder)
  await first.connect()
  await first.running.stop()
  await using second = await startWorld(new JumpingClock(MONTH_MS), simulator, folder)
  second.running.work()
  const sameApp = new World(second.running, second.control, folder, first.app, false, null)
  expect(await sameApp.untilStatus(await sameApp.send())).toMatchObject({ status: 'sent' })
  expect(await extensionStatus(sameApp)).toBe('active')
  await simulator.stop()
})
