import { seedRows } from '../../bench/support/seed-lists.ts'
import type { Registered } from '../../src/api/apps/schemas.ts'
import { createApp } from '../../src/operator/apps.ts'
import { createLink } from '../../src/operator/session.ts'
import { createTenant } from '../../src/operator/tenants.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type World, createWorld, until } from './world.ts'

/** What the console can find. The last two have a day of traffic behind them. */
export const SCENES = ['nothing', 'ten messages', '100,000 messages', 'a day', 'an incident'] as const
export type SceneName = (typeof SCENES)[number]

/** A gateway in the form of production, whose time stands still at `NOW`, with a clinic that two apps text for. */
export interface Scene extends AsyncDisposable {
  world: World
  clock: ManualClock
  booking: Registered
  reminders: Registered
  /** Whether the rail has something to count. */
  hasTrouble: boolean
  /** What follows `/console/` to sign an operator in and see a view. */
  signIn(hash: string): Promise<string>
}

const NOW = Date.UTC(2026, 10, 24, 14, 26, 8)
const HALF_HOUR_MS = 1_800_000
const HALF_HOURS = 48
/** Before the day begins: tokens are refreshed by the hour, and must not expire at `NOW`. */
const START = NOW - HALF_HOURS * HALF_HOUR_MS - 1_020_000
/** What a send takes. */
const SEND_MS = 840
/** How long the webhook has failed for, and the provider has paused. */
const FAILING_MS = 28 * 60_000
const PAUSE_S = 360
/** Of seventy messages, the one that is sent from a number which is not connected. */
const UNCONNECTED = 5
const FRONT_DESK = '+15035550100'
const BILLING = '+15035550102'
const HOOK = 'https://booking.example/sms'

const OUT = [
  'Your appointment is tomorrow at 15:00. Reply C to confirm.',
  'Your results are ready. Log in or call us.',
  'We have an earlier time: today at 16:30. Reply YES to take it.',
  'Thank you for your visit. Please take two minutes for our survey.',
  'Reminder: please do not eat for six hours before your visit.',
] as const
const IN = ['C', 'YES', 'Where do I park?', 'Can I come half an hour later?', 'Thanks!'] as const

/** Makes a scene. Its rows are the same each time, and only ids differ. */
export async function createScene(name: SceneName): Promise<Scene> {
  const receiver = startReceiver()
  const scene = await emptyScene(receiver, name !== 'nothing')
  if (name === 'nothing') scene.clock.advance(NOW - scene.clock.now())
  else if (name === 'ten messages') await tenMessages(scene)
  else if (name === '100,000 messages') await manyMessages(scene)
  else await aDay(scene, receiver, name === 'an incident')
  return scene
}

async function emptyScene(receiver: Receiver, hasTrouble: boolean): Promise<Scene> {
  const clock = manualClock(START)
  const world = await createWorld({ clock, outside: true, connect: false })
  const { gateway, control } = world
  control.configure({ deliveredAfterMs: 3000 })
  const { tenantId } = await createTenant(gateway, { name: 'Harbor Clinic' })
  const make = (app: string, webhookUrl: string | null) =>
    createApp(gateway, { tenantId, name: app, webhookUrl, role: 'app' })
  const booking = await make('booking-app', receiver.url)
  const reminders = await make('reminders', null)
  const extensions = [
    { name: 'Front desk', extensionNumber: '101', numbers: [FRONT_DESK, '+15035550101'] },
    { name: 'Billing', extensionNumber: '102', numbers: [BILLING] },
  ]
  for (const extension of extensions)
    await world.connect({ tenantId, extensionId: control.addExtension(extension).extensionId })
  return {
    world,
    clock,
    booking,
    reminders,
    hasTrouble,
    signIn: async (hash) => `${new URL((await createLink(gateway)).url).hash}&${hash.slice(1)}`,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

async function tenMessages(scene: Scene): Promise<void> {
  scene.clock.advance(NOW - 2 * HALF_HOUR_MS - scene.clock.now())
  await halfHour(scene, 6, 3)
  await sendOne(scene, UNCONNECTED)
  await untilIdle(scene)
  await finish(scene)
}

/** The rows of a busy gateway, with the figures that their commits would have kept. */
async function manyMessages(scene: Scene): Promise<void> {
  const { world, booking, reminders } = scene
  const { gate } = world.gateway.database
  const { tenantId, appId } = booking
  const [since, newest] = [NOW - 30 * 86_400_000, NOW - 60_000]
  await seedRows(gate, { count: 100_000, since, until: newest, tenants: [tenantId], share: 1, appId })
  await gate.execute({ sql: 'UPDATE messages SET app_id = ?1 WHERE seq % 3 = 0', args: [reminders.appId] })
  await gate.execute(`UPDATE messages SET error = 'Provider rejected the message: Destination cannot be reached (MSG-246)'
    WHERE error = 'Rejected'`)
  await gate.execute(`INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, accepted, sent, failed, cancelled, received, segments)
    SELECT tenant_id, created_at / ${HALF_HOUR_MS}, app_id, iif(status = 'sent', 800, 0), sum(direction = 'outbound'), sum(status = 'sent'),
      sum(status = 'failed'), sum(error_code IS 'cancelled'), sum(direction = 'inbound'), sum(status = 'sent')
    FROM messages GROUP BY 1, 2, 3, 4`)
  await gate.execute(`INSERT INTO usage_errors (tenant_id, half_hour, error, count, last_at)
    SELECT tenant_id, created_at / ${HALF_HOUR_MS}, error, count(*), max(updated_at) FROM messages WHERE error_code = 'rejected' GROUP BY 1, 2, 3`)
  await gate.execute({ sql: `UPDATE webhook_attempts SET target_id = ?1`, args: [appId] })
  await gate.execute(`INSERT INTO usage_destinations (tenant_id, half_hour, target_id, duration_ms, kind, url, success, failed)
    SELECT tenant_id, attempted_at / ${HALF_HOUR_MS}, target_id, duration_ms, kind, url, sum(outcome = 'success'), sum(outcome <> 'success')
    FROM webhook_attempts GROUP BY 1, 2, 3`)
  await finish(scene)
}

async function aDay(scene: Scene, receiver: Receiver, isIncident: boolean): Promise<void> {
  for (let index = 0; index < HALF_HOURS - 1; index++) {
    const hour = new Date(scene.clock.now()).getUTCHours()
    const isOpen = hour >= 7 && hour < 20
    await halfHour(scene, isOpen ? 6 + ((index * 7) % 9) : 1 + (index % 2), isOpen ? 2 + (index % 4) : index % 2)
  }
  if (isIncident) await incident(scene, receiver)
  else await sendOne(scene, UNCONNECTED)
  await finish(scene)
}

/** Sends and receives, lets all of it arrive, and ends half an hour later. */
async function halfHour(scene: Scene, sent: number, received: number): Promise<void> {
  const { clock } = scene
  const startedAt = clock.now()
  const first = Math.floor(startedAt / HALF_HOUR_MS)
  for (let index = 0; index < sent; index++) await sendOne(scene, first + index)
  for (let index = 0; index < received; index++) await receiveOne(scene, first + index)
  await untilIdle(scene)
  await untilDelivered(scene)
  clock.advance(Math.max(0, startedAt + HALF_HOUR_MS - clock.now()))
}

async function sendOne({ world, clock, booking, reminders }: Scene, index: number): Promise<void> {
  if (index % 40 === 3) world.control.planNextSms({ messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-411' })
  const from = index % 70 === UNCONNECTED ? '+15035550199' : index % 3 === 0 ? BILLING : FRONT_DESK
  const app = index % 2 === 0 ? booking : reminders
  const userId = `patient-${2800 + (index % 40)}`
  await world.send({ from, to: contactOf(index), body: itemOf(OUT, index), userId }, { key: app.apiKey })
  clock.advance(SEND_MS)
}

const receiveOne = ({ world }: Scene, index: number): Promise<unknown> =>
  world.control.injectSms({ from: contactOf(index * 3), to: FRONT_DESK, text: itemOf(IN, index) })

const contactOf = (index: number): string => `+1503555${String(1100 + ((index * 37) % 60)).padStart(4, '0')}`
const itemOf = (items: readonly string[], index: number): string => items[index % items.length] ?? ''

/** A webhook that fails, an extension that was revoked, and a provider that has paused the other one. */
async function incident(scene: Scene, receiver: Receiver): Promise<void> {
  const { world, clock, booking } = scene
  const send = (from: string, index: number): Promise<string> =>
    world.send({ from, to: contactOf(index), body: itemOf(OUT, index) }, { key: booking.apiKey })
  clock.advance(NOW - FAILING_MS - clock.now())
  receiver.answer = () => new Response('database is locked', { status: 500 })
  for (let index = 0; index < 9; index++) await receiveOne(scene, index)
  await untilIdle(scene)
  clock.advance(20 * 60_000)
  world.control.revokeTokens({ extensionId: world.control.extensions().at(-1)?.extensionId ?? '' })
  await send(BILLING, 1)
  await untilIdle(scene)
  clock.advance(NOW - 120_000 - clock.now())
  const headers = { 'retry-after': String(PAUSE_S) }
  world.control.fault({ route: 'sms', calls: null, fault: { kind: 'respond', status: 429, headers } })
  for (let index = 0; index < 17; index++) await send(FRONT_DESK, index)
  await until(() => (world.control.counters().answers['429'] ?? 0) > 0)
}

/** The receiver's port differs each time, so the address gets a name. */
async function finish({ world, clock, booking }: Scene): Promise<void> {
  const { gate } = world.gateway.database
  await world.json('PUT', `/v1/apps/${booking.appId}`, { key: booking.apiKey, body: { webhookUrl: HOOK } })
  for (const table of ['webhook_attempts', 'usage_destinations'])
    await gate.execute({ sql: `UPDATE ${table} SET url = ?1`, args: [HOOK] })
  clock.advance(NOW - clock.now())
}

/** Until nothing is in progress: neither sending nor a webhook. A number sends one message a second. */
const untilIdle = ({ world, clock }: Scene): Promise<unknown> =>
  until(async () => {
    clock.advance(200)
    const sql = `SELECT 1 FROM messages WHERE status IN ('queued', 'sending') UNION ALL SELECT 1 FROM jobs WHERE kind = 'webhook' LIMIT 1`
    return (await world.gateway.database.gate.execute(sql)).rows.length === 0
  })

/** Until the polls of deliveries have concluded all of them. */
const untilDelivered = ({ world, clock, booking }: Scene): Promise<unknown> =>
  until(async () => {
    clock.advance(2000)
    const page = await world.json<{ messages: { deliveryStatus: string | null }[] }>(
      'GET',
      '/v1/sms/messages?include=delivery&limit=50&status=sent',
      { key: booking.apiKey },
    )
    return page.body.messages.every(({ deliveryStatus }) => deliveryStatus !== 'pending')
  })
