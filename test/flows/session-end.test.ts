import { expect, test } from 'bun:test'
import { manualClock } from '../support/manual-clock.ts'
import { operate } from '../support/operator.ts'
import { type World, createWorld } from '../support/world.ts'

const DAY_MS = 86_400_000
const START = Date.parse('2026-11-29T03:00:00.000Z')
const isoIn = (ms: number): string => new Date(START + ms).toISOString()

/** A world whose account lets a session last for so long. */
async function worldWith(sessionSeconds: number | null) {
  const clock = manualClock(START)
  const world = await createWorld({ connect: false, clock })
  world.control.setLimits({ enabled: false })
  world.control.configure({ sessionSeconds })
  await world.connect()
  return { world, clock }
}

/** Everywhere that the end of a session is told. */
async function told(world: World) {
  const health = await world.json<{ extensions: Record<string, unknown>[] }>('GET', '/v1/rc/extensions/health')
  const { body: doctor } = await operate<{ check: string; level: string; detail: string }[]>(
    world,
    'GET',
    '/v1/operator/doctor',
  )
  const { alerts } = (await operate<{ alerts: { alert: string; text: string }[] }>(world, 'GET', '/v1/operator/alerts'))
    .body
  const { sessionExpiresAt, reason, fix, since, status } = health.body.extensions[0] ?? {}
  const { level, detail } = doctor.find(({ check }) => check === 'extensions') ?? {}
  return {
    expiresAt: (await world.json('GET', '/v1/rc/status')).body['expiresAt'],
    health: { sessionExpiresAt, reason, fix, since, status },
    doctor: `${level} ${detail}`,
    alerts: alerts.filter(({ alert }) => alert === 'session_ends').map(({ text }) => text),
  }
}

test('a session that the account limits is told three days before its end, and no refresh moves that end', async () => {
  const { world, clock } = await worldWith(5 * 86_400)
  await using _ = world
  const end = isoIn(5 * DAY_MS)
  const quiet = { sessionExpiresAt: end, reason: null, fix: null, since: null, status: 'active' }
  expect(await told(world)).toEqual({ expiresAt: end, health: quiet, doctor: 'ok 1 active', alerts: [] })
  clock.advance(2 * DAY_MS - 1000)
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
  expect((await told(world)).alerts).toEqual([])
  clock.advance(1000)
  const [extension] = world.control.extensions()
  const name = `Extension ${extension?.extensionId} of ${world.tenantId}`
  const reason = `RingCentral ends its session on ${end}, because the account limits how long a session may last`
  const fix = `Authorize it again before then, with an invite link: sgw extensions invite --tenant ${world.tenantId}`
  const text = `${name} must be authorized again. ${reason}. ${fix}. A JWT needs no login: sgw extensions connect-jwt.`
  const now = await told(world)
  expect(now.health).toEqual({
    ...quiet,
    reason,
    fix: `${fix}, or POST /v1/rc/invite-token.`,
    since: isoIn(2 * DAY_MS),
  })
  expect(now.expiresAt).toBe(end)
  expect(now.alerts).toEqual([text])
  expect(now.doctor).toContain(text)
})

test('a new authorization begins another session, and a limit that was lifted is forgotten', async () => {
  const { world, clock } = await worldWith(86_400)
  await using _ = world
  expect((await told(world)).health).toMatchObject({ sessionExpiresAt: isoIn(DAY_MS), since: isoIn(0) })
  clock.advance(3_600_000)
  await world.connect()
  expect((await told(world)).health).toMatchObject({
    sessionExpiresAt: isoIn(DAY_MS + 3_600_000),
    since: isoIn(3_600_000),
  })
  world.control.configure({ sessionSeconds: null })
  await world.connect()
  const after = await told(world)
  expect(after.health).toMatchObject({ sessionExpiresAt: null, reason: null })
  expect([after.alerts, after.doctor]).toEqual([[], 'ok 1 active'])
})

test('a JWT opens another session, so the end of one needs nobody', async () => {
  const { world } = await worldWith(86_400)
  await using _ = world
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  const { jwt } = world.control.addJwt({ extensionId })
  expect((await operate(world, 'POST', '/v1/operator/extensions', { tenantId: world.tenantId, jwt })).status).toBe(200)
  const after = await told(world)
  expect(after.health).toMatchObject({ sessionExpiresAt: isoIn(DAY_MS), reason: null })
  expect([after.alerts, after.expiresAt]).toEqual([[], '9999-12-31T23:59:59.000Z'])
})
