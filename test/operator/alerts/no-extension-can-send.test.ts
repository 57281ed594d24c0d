import { expect, test } from 'bun:test'
import { Alerts } from '../../../src/operator/alerts/alerts.ts'
import type { Finding } from '../../../src/operator/doctor/finding.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { operate } from '../../support/operator.ts'
import { startReceiver } from '../../support/receiver.ts'
import { type World, createWorld } from '../../support/world.ts'

const MINUTE = 60_000
const ALERT = 'no_extension_can_send'
const SECOND = '+15555550150'

/** A tenant with two extensions, whose alerts are checked by hand. */
async function setUp() {
  const clock = manualClock(Date.now())
  const receiver = startReceiver()
  const world = await createWorld({ clock, work: false })
  world.control.addExtension({ name: 'Bob', numbers: [SECOND] })
  const [first = '', second = ''] = world.control.extensions().map(({ extensionId }) => extensionId)
  await world.connect({ extensionId: second })
  let alerts = new Alerts(world.gateway, receiver.url)
  const posted = async (): Promise<Record<string, unknown>[]> => {
    const before = receiver.requests.length
    await alerts.run()
    await alerts.run()
    const bodies = receiver.requests.slice(before).map(({ body }) => body)
    return bodies.filter(({ alert }) => alert === ALERT)
  }
  return {
    world,
    clock,
    first,
    second,
    posted,
    restart: () => void (alerts = new Alerts(world.gateway, receiver.url)),
    async [Symbol.asyncDispose]() {
      await receiver[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

async function change(world: World, sql: string): Promise<void> {
  await world.gateway.database.gate.execute(sql)
  world.gateway.directory.forget(world.tenantId)
}

const setStatus = (world: World, clock: ManualClock, status: string, extensionId: string): Promise<void> =>
  change(
    world,
    `UPDATE extensions SET status = '${status}', status_since = ${clock.now()} WHERE extension_id = '${extensionId}'`,
  )

test('the last extension that stops is told at once, with its fix, and the first that sends again ends it', async () => {
  await using made = await setUp()
  const { world, clock, first, second, posted } = made
  const { tenantId } = world
  expect(await posted()).toEqual([])
  await setStatus(world, clock, 'revoked', first)
  expect(await posted()).toEqual([])
  clock.advance(MINUTE)
  await setStatus(world, clock, 'revoked', second)
  const what = `No extension of ${tenantId} can send, so nothing goes out`
  const fix = `Extension ${second}: Its authorization has ended. Authorize it again with an invite link: sgw extensions invite --tenant ${tenantId}. And 1 more: sgw extensions list --tenant ${tenantId}.`
  const told = {
    alert: ALERT,
    subject: tenantId,
    what,
    fix,
    text: `${what}. ${fix}`,
    state: 'firing',
    since: new Date(clock.now()).toISOString(),
    detail: {
      tenantId,
      extensions: 2,
      extensionId: second,
      extensionNumber: '102',
      reason: 'Its authorization has ended',
      cause: 'revoked',
    },
  }
  expect(await posted()).toEqual([told])
  made.restart()
  expect(await posted()).toEqual([])
  const findings = (await operate<Finding[]>(world, 'GET', '/v1/operator/doctor')).body
  expect(findings.find(({ check }) => check === 'sending')).toMatchObject({ level: 'fail', detail: told.text })
  await setStatus(world, clock, 'active', first)
  made.restart()
  expect(await posted()).toMatchObject([{ state: 'resolved', subject: tenantId, since: told.since }])
})

/** What the provider says of an extension without a number, and of a listing that it refuses. */
const failure = {
  reason: 'rejected',
  status: 403,
  code: 'CMN-408',
  message: 'Forbidden',
  oauthError: null,
  retryAfterMs: null,
  requestId: null,
} as const

test('what mostly ends by itself is told after 15 minutes, and what keeps nobody from sending is not', async () => {
  await using made = await setUp()
  const { world, clock, first, second, posted } = made
  const { gateway, tenantId } = world
  await setStatus(world, clock, 'revoked', first)
  clock.advance(1)
  // Its numbers are known, so that it sends on.
  gateway.directory.refusals.note({ tenantId, extensionId: second, step: 'numbers', failure }, clock.now())
  gateway.directory.refusals.note({ tenantId, extensionId: second, step: 'messages', failure }, clock.now())
  gateway.quota.pause(second, 'light', 60 * MINUTE)
  clock.advance(16 * MINUTE)
  expect(await posted()).toEqual([])
  gateway.quota.pause(second, 'medium', 60 * MINUTE)
  clock.advance(15 * MINUTE - 1)
  expect(await posted()).toEqual([])
  clock.advance(1)
  expect(await posted()).toMatchObject([{ state: 'firing', detail: { extensionId: second, cause: 'paused' } }])
})

test('tokens that cannot be refreshed are told after 15 minutes', async () => {
  await using made = await setUp()
  const { world, clock, first, second, posted } = made
  await setStatus(world, clock, 'revoked', first)
  clock.advance(1)
  await setStatus(world, clock, 'refresh_failed', second)
  clock.advance(15 * MINUTE - 1)
  expect(await posted()).toEqual([])
  clock.advance(1)
  expect(await posted()).toMatchObject([{ state: 'firing', detail: { extensionId: second, cause: 'refresh' } }])
})

test('an extension without a number cannot send', async () => {
  await using made = await setUp()
  const { world, clock, first, second, posted } = made
  await setStatus(world, clock, 'revoked', first)
  clock.advance(1)
  await change(world, `DELETE FROM phone_numbers WHERE extension_id = '${second}'`)
  world.gateway.directory.refusals.note(
    { tenantId: world.tenantId, extensionId: second, step: 'numbers', failure },
    clock.now(),
  )
  clock.advance(15 * MINUTE)
  expect(await posted()).toMatchObject([{ state: 'firing', detail: { extensionId: second, cause: 'numbers' } }])
})

test('tokens that fail while the provider is in trouble are told by the alert about the provider', async () => {
  await using made = await setUp()
  const { world, clock, first, second, posted } = made
  const { providerState } = world.gateway
  await setStatus(world, clock, 'revoked', first)
  clock.advance(1)
  await setStatus(world, clock, 'refresh_failed', second)
  providerState.clientRefusal = failure
  clock.advance(20 * MINUTE)
  expect(await posted()).toEqual([])
  providerState.clientRefusal = null
  expect(await posted()).toMatchObject([{ state: 'firing', detail: { extensionId: second, cause: 'refresh' } }])
})

test('a tenant without extensions, a suspended one and one that has left are no alert', async () => {
  await using made = await setUp()
  const { world, clock, first, second, posted } = made
  await world.otherTenant()
  await setStatus(world, clock, 'revoked', first)
  await setStatus(world, clock, 'revoked', second)
  for (const status of ['suspended', 'inactive']) {
    await operate(world, 'PUT', `/v1/operator/tenants/${world.tenantId}`, { status })
    expect(await posted()).toEqual([])
  }
  await operate(world, 'PUT', `/v1/operator/tenants/${world.tenantId}`, { status: 'active' })
  expect(await posted()).toMatchObject([{ state: 'firing' }])
  await change(world, 'DELETE FROM extensions')
  expect(await posted()).toMatchObject([{ state: 'resolved' }])
})

test('it cannot be muted', async () => {
  await using made = await setUp()
  const { world, clock, first, second, posted } = made
  await setStatus(world, clock, 'revoked', first)
  await setStatus(world, clock, 'revoked', second)
  expect(await posted()).toHaveLength(1)
  const path = `/v1/operator/alerts/${ALERT}/mute`
  const refusal = { status: 409, body: { error: 'This alert cannot be muted' } }
  expect(await operate(world, 'PUT', path, { subject: world.tenantId, until: 'over' })).toEqual(refusal)
  expect(world.gateway.alerts.firing.map(({ alert }) => alert)).toContain(ALERT)
})
