import { afterEach, expect, spyOn, test } from 'bun:test'
import { Alerts } from '../../../src/operator/alerts/alerts.ts'
import { expectError } from '../../support/expect-error.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { operate, signIn } from '../../support/operator.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type World, type WorldOptions, createWorld, recordedLog } from '../../support/world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** An alert of the extension, which fires and ends at once. */
const ALERT = 'extension_revoked'

interface Item {
  alert: string
  subject: string
  mutedUntil?: string
  mutedBy?: string
}

interface Setup extends AsyncDisposable {
  world: World
  clock: ManualClock
  receiver: Receiver
  subject: string
  /** Starts the alerts as a start of the gateway does, with or without an address. */
  start(url?: string | null): void
  /** Runs the checks twice and returns which posts about the extension came. */
  check(): Promise<string[]>
  call(method: string, path: string, body?: unknown): Promise<Response>
  mute(until: unknown, alert?: string, subject?: unknown): Promise<Response>
  unmute(alert?: string, subject?: string): Promise<Response>
  item(): Promise<Item | undefined>
}

const setups: AsyncDisposable[] = []
afterEach(async () => {
  for (const made of setups.splice(0)) await made[Symbol.asyncDispose]()
})

async function setUp(options: WorldOptions = {}): Promise<Setup> {
  const clock = manualClock(Date.now())
  const world = await createWorld({ clock, work: false, ...options })
  const receiver = startReceiver()
  const { token } = await signIn(world)
  let alerts: Alerts
  const subject = world.control.extensions()[0]?.extensionId ?? ''
  const call = (method: string, path: string, body?: unknown): Promise<Response> =>
    world.call(method, `/v1/operator/alerts${path}`, { key: token, ...(body === undefined ? {} : { body }) })
  const made: Setup = {
    world,
    clock,
    receiver,
    subject,
    start: (url = receiver.url) => {
      alerts = new Alerts(world.gateway, url)
      world.gateway.alerts.check = () => alerts.check()
      world.gateway.alerts.setMutes = (change) => alerts.setMutes(change)
    },
    check: async () => {
      const before = receiver.requests.length
      await alerts.run()
      await alerts.run()
      const posted = receiver.requests.slice(before).map(({ body }) => body)
      return posted.filter(({ alert }) => alert === ALERT).map(({ state }) => String(state))
    },
    call,
    mute: (until, alert = ALERT, of = subject) => call('PUT', `/${alert}/mute`, { subject: of, until }),
    unmute: (alert = ALERT, of = subject) => call('DELETE', `/${alert}/mute?subject=${of}`),
    item: async () => {
      // A session ends after some hours.
      const { body } = await operate<{ alerts: Item[] }>(world, 'GET', '/v1/operator/alerts')
      return body.alerts.find(({ alert }) => alert === ALERT)
    },
    [Symbol.asyncDispose]: async () => {
      await receiver[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
  made.start()
  setups.push(made)
  return made
}

const setStatus = async ({ world }: Setup, status: 'active' | 'revoked'): Promise<void> => {
  await world.gateway.database.gate.execute(`UPDATE extensions SET status = '${status}'`)
  world.gateway.directory.forget(world.tenantId)
}
const inMs = ({ clock }: Setup, ms: number): string => new Date(clock.now() + ms).toISOString()
const expectOk = async (response: Response): Promise<void> =>
  expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: { ok: true } })

test('an alert that is muted before it was posted is posted when the mute ends, once, if it still fires', async () => {
  const made = await setUp()
  made.start(null)
  await setStatus(made, 'revoked')
  const until = inMs(made, HOUR)
  await expectOk(await made.mute(until))
  expect(await made.item()).toMatchObject({ subject: made.subject, mutedUntil: until, mutedBy: 'session' })
  made.start()
  expect(await made.check()).toEqual([])
  made.clock.advance(HOUR - 1)
  expect(await made.check()).toEqual([])
  made.clock.advance(1)
  expect(await made.check()).toEqual(['firing'])
  expect(await made.item()).not.toHaveProperty('mutedUntil')
  expect(await made.check()).toEqual([])
})

test('what is over before the mute ends was never posted, and posts nothing', async () => {
  const made = await setUp()
  made.start(null)
  await setStatus(made, 'revoked')
  await expectOk(await made.mute(inMs(made, HOUR)))
  made.start()
  await made.check()
  await setStatus(made, 'active')
  expect(await made.check()).toEqual([])
  made.clock.advance(2 * HOUR)
  expect(await made.check()).toEqual([])
})

test('the end of an alert that was posted before it was muted is posted, and a mute for a time holds when the alert comes again', async () => {
  const made = await setUp()
  await setStatus(made, 'revoked')
  expect(await made.check()).toEqual(['firing'])
  await expectOk(await made.mute(inMs(made, 8 * HOUR)))
  expect(await made.check()).toEqual([])
  await setStatus(made, 'active')
  expect(await made.check()).toEqual(['resolved'])
  made.clock.advance(HOUR)
  await setStatus(made, 'revoked')
  expect(await made.check()).toEqual([])
  expect(await made.item()).toMatchObject({ mutedBy: 'session' })
  made.clock.advance(7 * HOUR)
  expect(await made.check()).toEqual(['firing'])
})

test('a mute until the alert is over ends with it, also if nobody looked, and not before', async () => {
  const made = await setUp()
  await setStatus(made, 'revoked')
  await made.check()
  await expectOk(await made.mute('over'))
  made.clock.advance(40 * DAY)
  expect(await made.check()).toEqual([])
  expect(await made.item()).toMatchObject({ mutedUntil: 'over', mutedBy: 'session' })
  await setStatus(made, 'active')
  expect(await made.check()).toEqual(['resolved'])
  await setStatus(made, 'revoked')
  expect(await made.check()).toEqual(['firing'])
  expect(await made.item()).not.toHaveProperty('mutedUntil')
})

test('a mute that is ended early, or replaced by another one, counts no longer', async () => {
  const made = await setUp()
  made.start(null)
  await setStatus(made, 'revoked')
  await expectOk(await made.mute('over'))
  made.start()
  expect(await made.check()).toEqual([])
  const until = inMs(made, HOUR)
  await expectOk(await made.mute(until))
  expect(await made.item()).toMatchObject({ mutedUntil: until })
  for (const subject of ['', 'nobody', 'x'.repeat(10_000), `${made.subject}&subject=nobody`])
    await expectOk(await made.unmute(ALERT, subject))
  expect(await made.check()).toEqual([])
  await expectOk(await made.unmute(ALERT, `nobody&subject=${made.subject}`))
  expect(await made.check()).toEqual(['firing'])
  await expectOk(await made.unmute())
  await expectOk(await made.unmute('nothing', 'nobody'))
  await expectOk(await made.unmute('storage_failing', 'gateway'))
  await expectOk(await made.call('DELETE', `/${ALERT}/mute`))
  expect(await made.check()).toEqual([])
})

test('a post that is tried again stops with the mute, and comes when it ends', async () => {
  const made = await setUp()
  await setStatus(made, 'revoked')
  made.receiver.answer = () => new Response('', { status: 500 })
  expect(await made.check()).toEqual(['firing'])
  await expectOk(await made.mute(inMs(made, HOUR)))
  made.receiver.answer = () => new Response('')
  for (const ms of [MINUTE, 10 * MINUTE, 40 * MINUTE]) {
    made.clock.advance(ms)
    expect(await made.check()).toEqual([])
  }
  made.clock.advance(HOUR)
  expect(await made.check()).toEqual(['firing'])
})

test('a post that is being made when its alert is muted is not made twice, and no other post gets lost', async () => {
  const made = await setUp()
  await setStatus(made, 'revoked')
  const answers = Promise.withResolvers<void>()
  made.receiver.answer = async ({ body }) => {
    if (body['alert'] === ALERT) await answers.promise
    return new Response('')
  }
  const checking = made.check()
  await made.receiver.received(2)
  await expectOk(await made.mute(inMs(made, HOUR)))
  await made.item()
  answers.resolve()
  expect(await checking).toEqual(['firing'])
  made.clock.advance(HOUR)
  expect(await made.check()).toEqual([])
  await setStatus(made, 'active')
  expect(await made.check()).toEqual(['resolved'])
})

test('a mute survives a restart, and is stored before it is answered', async () => {
  const made = await setUp()
  await setStatus(made, 'revoked')
  await made.check()
  await expectOk(await made.mute('over'))
  const [stored] = (await made.world.gateway.database.gate.execute("SELECT value FROM facts WHERE name = 'alerts'"))
    .rows
  expect(JSON.parse(String(stored?.['value']))).toMatchObject({
    mutes: [{ alert: ALERT, subject: made.subject, until: null, by: 'session' }],
  })
  made.start()
  expect(await made.check()).toEqual([])
  expect(await made.item()).toMatchObject({ mutedUntil: 'over' })
})

test('what cannot be stored is not muted', async () => {
  const made = await setUp()
  await setStatus(made, 'revoked')
  await made.check()
  using write = spyOn(made.world.gateway.database.writer, 'write')
  write.mockRejectedValue(Object.assign(new Error('full'), { code: 'SQLITE_FULL' }))
  await expectError(await made.mute('over'), 503, 'Storage unavailable')
  expect(await made.item()).not.toHaveProperty('mutedUntil')
})

test('one subject in two tenants is muted for both, until it is over for both', async () => {
  const made = await setUp()
  const { world } = made
  const other = await world.otherTenant()
  await world.connect({ tenantId: other.tenantId, extensionId: made.subject })
  await setStatus(made, 'revoked')
  world.gateway.directory.forget(other.tenantId)
  await expectOk(await made.mute('over'))
  const muted = async () =>
    ((await (await made.call('GET', '')).json()) as { alerts: Item[] }).alerts
      .filter(({ alert }) => alert === ALERT)
      .map(({ mutedUntil }) => mutedUntil)
  expect(await muted()).toEqual(['over', 'over'])
  await world.gateway.database.gate.execute(
    `UPDATE extensions SET status = 'active' WHERE tenant_id = '${other.tenantId}'`,
  )
  world.gateway.directory.forget(other.tenantId)
  expect(await muted()).toEqual(['over'])
  expect(await made.check()).toEqual([])
})

test('an alert that is muted is no worst of its tenant, which then stands among those that are well, and is listed all the same', async () => {
  const made = await setUp()
  const { world, subject } = made
  const busy = await world.otherTenant('Busy')
  await world.gateway.database.gate.execute(
    `INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, sent) VALUES ('${busy.tenantId}', ${Math.floor(made.clock.now() / (HOUR / 2))}, 'app_1', 0, 1)`,
  )
  world.control.addExtension({ name: 'Bob', numbers: ['+15555550150'] })
  await world.connect({ extensionId: world.control.extensions()[1]?.extensionId ?? '' })
  await world.gateway.database.gate.execute(
    `UPDATE extensions SET status = 'revoked' WHERE extension_id = '${subject}'`,
  )
  world.gateway.directory.forget(world.tenantId)
  interface Answer {
    alerts: Item[]
    tenants: { name: string; worst: Item | null }[]
  }
  const read = async () => {
    const { alerts, tenants } = (await operate<Answer>(world, 'GET', '/v1/operator/overview')).body
    return { alerts, worst: tenants.map(({ name, worst }) => [name, worst?.alert ?? null]) }
  }
  expect((await read()).worst).toEqual([
    ['First', ALERT],
    ['Busy', null],
  ])
  await expectOk(await made.mute('over'))
  const { alerts, worst } = await read()
  expect(worst).toEqual([
    ['Busy', null],
    ['First', null],
  ])
  expect(alerts).toMatchObject([{ alert: ALERT, subject, mutedUntil: 'over', mutedBy: 'session' }])
})

test('what does not fire is not found, what always has to be told is refused, and no other value is taken', async () => {
  const made = await setUp()
  await setStatus(made, 'revoked')
  const at = inMs(made, HOUR)
  const long = 'x'.repeat(10_000)
  for (const alert of ['queue_old', 'nothing', 'constructor', '%00', 'x'.repeat(1000)])
    await expectError(await made.mute(at, alert), 404, 'Alert not found')
  for (const subject of [
    '',
    'gateway',
    `${made.world.tenantId}/${made.subject}`,
    long,
    null,
    5,
    [made.subject],
    { a: 1 },
  ])
    await expectError(await made.mute(at, ALERT, subject), 404, 'Alert not found')
  for (const until of [
    undefined,
    null,
    '',
    5,
    true,
    ['over'],
    {},
    'OVER',
    'never',
    long,
    '2026-11-30',
    at.slice(0, -1),
    inMs(made, 0),
    inMs(made, -MINUTE),
    inMs(made, 30 * DAY + 1),
    '9999-12-31T23:59:59Z',
  ])
    await expectError(await made.mute(until), 400, 'Invalid until')
  for (const body of ['null', '[]', '"over"']) {
    const response = await made.world.call('PUT', `/v1/operator/alerts/${ALERT}/mute`, {
      key: (await signIn(made.world)).token,
      body,
    })
    await expectError(response, 400, 'Invalid until')
  }
  await expectError(await made.call('PUT', `/${ALERT}/mute`, '{'), 400, 'Invalid JSON')
  for (const subject of ['gateway', 'nothing', null])
    await expectError(await made.mute(at, 'storage_failing', subject), 409, 'This alert cannot be muted')
  expect(await made.item()).not.toHaveProperty('mutedUntil')
  await expectOk(await made.mute(inMs(made, 30 * DAY)))
})

test('the metrics count what fires, and how much of it is muted', async () => {
  const made = await setUp({ env: { ADMIN_PORT: '0' } })
  await setStatus(made, 'revoked')
  const figures = async (): Promise<number[]> => {
    const text = await (await fetch(`${made.world.running.adminUrl}/metrics`)).text()
    return ['sgw_alerts_firing', 'sgw_alerts_muted'].map((name) =>
      Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]),
    )
  }
  expect(await figures()).toEqual([2, 0])
  await expectOk(await made.mute('over'))
  expect(await figures()).toEqual([2, 1])
  await setStatus(made, 'active')
  expect(await figures()).toEqual([0, 0])
})

test('only an operator mutes', async () => {
  const made = await setUp()
  await setStatus(made, 'revoked')
  const path = `/v1/operator/alerts/${ALERT}/mute`
  const body = { subject: made.subject, until: 'over' }
  await expectError(await made.world.call('PUT', path, { body }), 403, 'Forbidden')
  await expectError(await made.world.call('DELETE', `${path}?subject=${made.subject}`), 403, 'Forbidden')
  await expectError(await made.world.call('PUT', path, { body, key: null }), 401, 'Missing or invalid API key')
  expect(await made.item()).not.toHaveProperty('mutedUntil')
})

test('the log says who has muted what until when, and who has ended that', async () => {
  const { log, lines } = recordedLog()
  const made = await setUp({ log })
  await setStatus(made, 'revoked')
  const until = inMs(made, HOUR)
  await made.mute(until)
  await operate(made.world, 'DELETE', `/v1/operator/alerts/${ALERT}/mute?subject=${made.subject}`)
  await operate(made.world, 'PUT', `/v1/operator/alerts/${ALERT}/mute`, { subject: made.subject, until: 'over' })
  expect(await made.item()).toMatchObject({ mutedUntil: 'over', mutedBy: 'cli' })
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(told.filter(({ msg }) => String(msg).includes('mute'))).toMatchObject([
    { alert: ALERT, subject: made.subject, until, session: expect.stringMatching(/^ses_/) },
    { alert: ALERT, subject: made.subject, session: 'socket' },
    { alert: ALERT, subject: made.subject, until: 'over', session: 'socket' },
  ])
})
