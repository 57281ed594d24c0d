import { expect, test } from 'bun:test'
import { sgwIn } from '../support/cli.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { openOperatorSocket, operate } from '../support/operator.ts'
import { type World, createWorld, until } from '../support/world.ts'

const DAY = 86_400_000
const END = '2026-12-11T02:30:00.000Z'

async function open(): Promise<{ world: World; clock: ManualClock; connect(days: number | null): Promise<string> }> {
  const clock = manualClock(Date.parse(END) - 20 * DAY)
  const world = await createWorld({ connect: false, clock })
  world.control.setLimits({ enabled: false })
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  const connect = async (days: number | null): Promise<string> => {
    const { jwt } = world.control.addJwt({ extensionId, ...(days === null ? {} : { expiresInSeconds: days * 86_400 }) })
    const body = { tenantId: world.tenantId, jwt }
    expect((await operate(world, 'POST', '/v1/operator/extensions', body)).status).toBe(200)
    return extensionId
  }
  return { world, clock, connect }
}

/** Everywhere that the end of a JWT is told, once the subscription that has ended meanwhile is made anew. */
async function told(world: World) {
  await until(async () => {
    const { rows } = await world.gateway.database.gate.execute(
      `SELECT 1 FROM subscriptions WHERE status = 'active' AND expires_at > ${world.gateway.clock.now()}`,
    )
    return rows.length > 0
  })
  const get = async <T>(path: string) => (await operate<T>(world, 'GET', path)).body
  const { extensions } = (
    await world.json<{ extensions: Record<string, unknown>[] }>('GET', '/v1/rc/extensions/health')
  ).body
  const doctor = await get<{ check: string; level: string; detail: string }[]>('/v1/operator/doctor')
  const { alerts } = await get<{ alerts: { alert: string; text: string }[] }>('/v1/operator/alerts')
  const { level, detail } = doctor.find(({ check }) => check === 'extensions') ?? {}
  return {
    expiresAt: (await world.json('GET', '/v1/rc/status')).body['expiresAt'],
    jwtExpiresAt: extensions[0]?.['jwtExpiresAt'],
    status: extensions[0]?.['status'],
    reason: extensions[0]?.['reason'],
    fix: extensions[0]?.['fix'],
    doctor: `${level} ${detail}`,
    alerts: alerts.filter(({ alert }) => alert === 'jwt_ends').map(({ text }) => text),
  }
}

async function terminal(world: World) {
  const operator = openOperatorSocket(world)
  const list = (await sgwIn(world.folder, ['extensions', 'list'])).stdout
  const status = (await sgwIn(world.folder, ['status'])).stdout
  await operator.stop()
  return { list, status }
}

test('the end of a JWT is told everywhere: its day at once, 14 days before what to do, 3 days before by an alert, and afterwards that it has ended', async () => {
  const { world, clock, connect } = await open()
  await using _ = world
  const extensionId = await connect(20)
  const fix = `Make another one in the developer console: sgw extensions connect-jwt --tenant ${world.tenantId} --jwt-file FILE, or set RC_JWT and restart.`
  const ends = `Its JWT expires on ${END}`
  const needs = `Extension ${extensionId} of ${world.tenantId} needs a new JWT`
  const day = { expiresAt: END, jwtExpiresAt: END, status: 'active' }
  const said = `warn ${needs}. ${ends}. ${fix}`
  expect(await told(world)).toEqual({ ...day, reason: null, fix: null, doctor: 'ok 1 active', alerts: [] })
  expect(await terminal(world)).toEqual({
    list: expect.stringMatching(/active +jwt until 2026-12-11/) as never,
    status: expect.stringMatching(/^extensions +1 active, JWT until 2026-12-11$/m) as never,
  })
  clock.advance(6 * DAY)
  expect(await told(world)).toEqual({ ...day, reason: ends, fix, doctor: said, alerts: [] })
  expect((await terminal(world)).list.replaceAll(/\s+/g, ' ')).toContain(`! ${extensionId}: ${ends}. ${fix}`)
  clock.advance(11 * DAY - 1000)
  expect((await told(world)).alerts).toEqual([])
  clock.advance(1000)
  expect(await told(world)).toEqual({ ...day, reason: ends, fix, doctor: said, alerts: [said.slice(5)] })
  clock.advance(3 * DAY)
  // Its session continues, because RingCentral has given it refresh tokens.
  expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
  const ended = `Its JWT expired on ${END}, so the extension works only until RingCentral ends its session`
  const over = `${needs}. ${ended}. ${fix}`
  expect(await told(world)).toEqual({ ...day, reason: ended, fix, doctor: `warn ${over}`, alerts: [over] })
  expect((await terminal(world)).status).toMatch(/^extensions +1 active, JWT until 2026-12-11$/m)
  await connect(null)
  const never = '9999-12-31T23:59:59.000Z'
  const fine = { status: 'active', reason: null, fix: null, doctor: 'ok 1 active', alerts: [] }
  expect(await told(world)).toEqual({ ...fine, expiresAt: never, jwtExpiresAt: null })
  expect(await terminal(world)).toEqual({
    list: expect.stringMatching(/active +jwt, no end +\+1555/) as never,
    status: expect.stringMatching(/^extensions +1 active, JWT: no end$/m) as never,
  })
})

test('nothing is told of a JWT whose extension a link has connected since, nor of an inactive tenant', async () => {
  const { world, connect } = await open()
  await using _ = world
  await connect(2)
  expect((await told(world)).alerts).toHaveLength(1)
  await operate(world, 'PUT', `/v1/operator/tenants/${world.tenantId}`, { status: 'inactive' })
  const { body } = await operate<{ alerts: unknown[] }>(world, 'GET', '/v1/operator/alerts')
  expect(JSON.stringify(body)).not.toContain('jwt_ends')
  await operate(world, 'PUT', `/v1/operator/tenants/${world.tenantId}`, { status: 'active' })
  await world.connect()
  expect((await terminal(world)).status).toMatch(/^extensions +1 active$/m)
  const after = await told(world)
  expect([after.reason, after.alerts, after.jwtExpiresAt]).toEqual([null, [], undefined])
})

test('a JWT of two days is told at once, since it was connected and not since a day before that', async () => {
  const { world, clock, connect } = await open()
  await using _ = world
  const connectedAt = new Date(clock.now()).toISOString()
  await connect(2)
  const { body } = await world.json<{ extensions: { since: string }[] }>('GET', '/v1/rc/extensions/health')
  expect(body.extensions.map(({ since }) => since)).toEqual([connectedAt])
  const { alerts } = (
    await operate<{ alerts: { alert: string; since: string }[] }>(world, 'GET', '/v1/operator/alerts')
  ).body
  expect(alerts.filter(({ alert }) => alert === 'jwt_ends').map(({ since }) => since)).toEqual([connectedAt])
})
