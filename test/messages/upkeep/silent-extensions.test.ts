import { expect, test } from 'bun:test'
import { MAX_SILENT_BACK_FILLS } from '../../../src/core/limits.ts'
import { SilentExtensions } from '../../../src/messages/upkeep/silent-extensions.ts'
import { createTenant } from '../../../src/operator/tenants.ts'
import { type ExtensionKey, connectExtension } from '../../../src/provider/extension-rows.ts'
import { encryptPair } from '../../../src/provider/stored-credentials.ts'
import type { Fault } from '../../../src/simulator/faults.ts'
import { FaultCase } from '../../flows/fault-table/case.ts'
import { pass, someTurns } from '../../flows/fault-table/passing-time.ts'
import { operate } from '../../support/operator.ts'
import { until } from '../../support/world.ts'

// What brings the messages of an extension without a live subscription. All timers of the gateway run, on a manual clock.

const SECOND = 1000
const MINUTE = 60 * SECOND
/** Alerts, timers and answers need some steps of the clock. */
const SLACK = 2 * SECOND
const REFUSED: Fault = {
  kind: 'respond',
  status: 403,
  body: { errorCode: 'CMN-408', message: 'In order to call this API endpoint, user needs to have [X] permission' },
}

/** A gateway, and the times at which it has listed inbound messages. */
interface Watched {
  one: FaultCase
  looks: number[]
}

async function open(): Promise<Watched & AsyncDisposable> {
  const one = await FaultCase.open({ outside: true })
  one.world.control.configure({ deliveredAfterMs: 5 * SECOND })
  const { provider } = one.world.gateway
  const list = provider.listMessages
  const looks: number[] = []
  provider.listMessages = (token, query) => {
    // A refused one is repeated without the other owners' messages.
    if (query.direction === 'Inbound' && query.ofEveryOwner === true) looks.push(one.clock.now())
    return list(token, query)
  }
  await run(one, SLACK)
  return { one, looks, [Symbol.asyncDispose]: () => one[Symbol.asyncDispose]() }
}

const fault = ({ world }: FaultCase, route: string, what: Fault, calls: number | null = null): void =>
  world.control.fault({ route, calls, fault: what })

async function run(one: FaultCase, ms: number): Promise<void> {
  const end = one.clock.now() + ms
  await pass(one, ms + MINUTE, () => (one.clock.now() >= end ? true : null), SECOND)
}

function keyOf({ world }: FaultCase): ExtensionKey {
  return { tenantId: world.tenantId, extensionId: world.control.extensions()[0]?.extensionId ?? '' }
}

async function dropSubscriptions(one: FaultCase): Promise<void> {
  const { control, gateway } = one.world
  for (const { subscriptionId } of control.subscriptions()) control.deleteSubscription({ subscriptionId })
  await gateway.database.gate.execute('DELETE FROM subscriptions')
}

/** Lets the provider refuse a subscription from now on. */
async function silence(one: FaultCase): Promise<void> {
  await dropSubscriptions(one)
  fault(one, 'subscription-create', REFUSED)
  expect(await one.world.gateway.subscriptions.ensure(keyOf(one))).toBe('failed')
}

const text = ({ world }: FaultCase, words: string) =>
  world.control.injectSms({ from: '+15555550177', text: words, deliver: false })

async function bodies({ world }: FaultCase): Promise<unknown[]> {
  const sql = `SELECT body FROM messages WHERE direction = 'inbound' ORDER BY seq`
  return (await world.gateway.database.gate.execute(sql)).rows.map((row) => row['body'])
}

const arrived = (one: FaultCase, words: string, withinMs: number): Promise<true> =>
  pass(one, withinMs, async () => ((await bodies(one)).includes(words) ? true : null), SECOND)

test('an extension without a subscription gets its messages within a minute, each once, and is read every 15 minutes when it has one again', async () => {
  await using watched = await open()
  const { one, looks } = watched
  await silence(one)
  const words = ['one', 'two', 'three']
  for (const word of words) {
    await text(one, word)
    await arrived(one, word, MINUTE + SLACK)
    await run(one, 20 * SECOND)
  }
  looks.length = 0
  await run(one, 5 * MINUTE)
  expect(looks).toHaveLength(5)
  for (const [before, after] of looks.slice(1).map((at, index) => [looks[index] ?? 0, at] as const))
    expect(Math.abs(after - before - MINUTE)).toBeLessThanOrEqual(SLACK)

  one.world.control.clearFaults()
  await pass(one, 11 * MINUTE, () => (one.world.control.subscriptions().length > 0 ? true : null), SECOND)
  await run(one, SLACK)
  looks.length = 0
  await run(one, 30 * MINUTE)
  expect(looks).toHaveLength(2)
  expect(await bodies(one)).toEqual(words)
}, 60_000)

test('an extension whose subscription expires is read each minute from then on', async () => {
  await using watched = await open()
  const { one, looks } = watched
  const { gate } = one.world.gateway.database
  for (const route of ['subscription-list', 'subscription-renew']) fault(one, route, REFUSED)
  await one.world.gateway.subscriptions.ensure(keyOf(one))
  const expiresAt = one.clock.now() + 5 * MINUTE
  await gate.execute({ sql: 'UPDATE subscriptions SET expires_at = ?1', args: [expiresAt] })
  looks.length = 0
  await run(one, 5 * MINUTE - SLACK)
  expect(looks).toEqual([])
  await text(one, 'after the end')
  await arrived(one, 'after the end', MINUTE + 2 * SLACK)
}, 30_000)

test('an extension of a suspended tenant is not read each minute, and again when the tenant is active', async () => {
  await using watched = await open()
  const { one, looks } = watched
  await silence(one)
  const suspend = (status: string) =>
    operate(one.world, 'PUT', `/v1/operator/tenants/${one.world.tenantId}`, { status })
  expect((await suspend('suspended')).status).toBe(200)
  looks.length = 0
  await run(one, 10 * MINUTE)
  expect(looks).toEqual([])
  expect((await suspend('active')).status).toBe(200)
  await text(one, 'welcome back')
  await arrived(one, 'welcome back', MINUTE + SLACK)
}, 30_000)

test('a listing that is refused is tried again after 1, 2, 4 and 8 minutes, and each minute when it is not refused any more', async () => {
  await using watched = await open()
  const { one, looks } = watched
  await silence(one)
  fault(one, 'message-store', REFUSED)
  looks.length = 0
  await run(one, 14 * MINUTE)
  const gaps = looks.slice(1).map((at, index) => Math.round((at - (looks[index] ?? 0)) / MINUTE))
  expect(gaps).toEqual([1, 2, 4])
  one.world.control.clearFaults()
  fault(one, 'subscription-create', REFUSED)
  await run(one, 9 * MINUTE)
  await text(one, 'allowed again')
  await arrived(one, 'allowed again', MINUTE + SLACK)
}, 60_000)

test('after an outage of the provider no message waits for the pause that the failures had grown to', async () => {
  await using watched = await open()
  const { one, looks } = watched
  await silence(one)
  fault(one, '*', { kind: 'reset' })
  looks.length = 0
  await run(one, 40 * MINUTE)
  expect(looks.length).toBeLessThan(12)
  one.world.control.clearFaults()
  fault(one, 'subscription-create', REFUSED)
  await text(one, 'the first one')
  // The provider is asked every 30 s whether it is back.
  await arrived(one, 'the first one', MINUTE + 30 * SECOND + 2 * SLACK)
}, 60_000)

test('a 429 for a back-fill pauses back-fills, but no delivery poll', async () => {
  await using watched = await open()
  const { one, looks } = watched
  await silence(one)
  await run(one, MINUTE + SLACK)
  fault(one, 'message-store', { kind: 'respond', status: 429, headers: { 'Retry-After': '300' } }, 1)
  looks.length = 0
  await pass(one, MINUTE + SLACK, () => (looks.length > 0 ? true : null), SECOND)
  await someTurns()
  const messageId = await one.send()
  const delivery = async (): Promise<unknown> =>
    (await one.world.json('GET', `/v1/sms/${messageId}/timeline`)).body['deliveryStatus']
  await pass(one, 2 * MINUTE, async () => ((await delivery()) === 'delivered' ? true : null), SECOND)
  await pass(one, 7 * MINUTE, () => (looks.length > 1 ? true : null), SECOND)
  expect((looks[1] ?? 0) - (looks[0] ?? 0)).toBeGreaterThanOrEqual(5 * MINUTE)
}, 30_000)

test('a subscription that waits for its tokens is made as soon as they are there', async () => {
  await using watched = await open()
  const { one } = watched
  const { gateway, control, tenantId } = one.world
  await dropSubscriptions(one)
  fault(one, 'token', { kind: 'respond', status: 503 })
  await gateway.database.gate.execute('UPDATE extensions SET access_expires_at = 0, refreshed_at = 0')
  gateway.directory.forget(tenantId)
  expect(await gateway.subscriptions.ensure(keyOf(one))).toBe('waiting')
  // The refresh is tried again after 10 s, 1 min and 2 min.
  await run(one, 100 * SECOND)
  await text(one, 'meanwhile')
  control.clearFaults()
  const hasTokens = async () => (await one.extension())?.status === 'active'
  await pass(one, 3 * MINUTE, async () => ((await hasTokens()) ? true : null), SECOND)
  await pass(one, SLACK, () => (control.subscriptions().length > 0 ? true : null), SECOND)
  await arrived(one, 'meanwhile', SLACK)
}, 30_000)

const MANY = 500
const PER_TENANT = 10

/** Connects many extensions of several tenants, without subscriptions. Their tokens are their ids. */
async function connectMany({ world, clock }: FaultCase): Promise<ExtensionKey[]> {
  const { secrets, database } = world.gateway
  const { rows } = await database.gate.execute('SELECT account_id FROM extensions')
  const accountId = String(rows[0]?.['account_id'])
  const keys: ExtensionKey[] = []
  let { tenantId } = world
  for (let id = 0; id < MANY; id++) {
    if (id % PER_TENANT === 0) ({ tenantId } = await createTenant(world.gateway, { name: `Tenant ${id}` }))
    const key = { tenantId, extensionId: `90${id}` }
    const pair = {
      accessToken: key.extensionId,
      refreshToken: `refresh ${id}`,
      expiresInSeconds: 86_400,
      refreshExpiresInSeconds: 604_800,
      sessionEndsInSeconds: null,
      ownerId: key.extensionId,
    }
    const row = {
      ...key,
      accountId,
      extensionNumber: null,
      name: null,
      jwt: null,
      jwtExpiresAt: null,
      now: clock.now(),
      providerNow: clock.now(),
    }
    await connectExtension(database.orm, { ...row, ...(await encryptPair(secrets, key, pair, clock.now())) })
    keys.push(key)
  }
  return keys
}

/** Timers that tell whether all work that was due has ended. */
function countedTimers({ clock }: FaultCase) {
  const planned = new Map<string, () => void>()
  let running = 0
  const cancel = (name: string): void => planned.get(name)?.()
  const once = (name: string, ms: number, work: () => Promise<unknown>): void => {
    cancel(name)
    planned.set(
      name,
      clock.after(ms, () => {
        running++
        void work().finally(() => running--)
      }),
    )
  }
  return { once, cancel, areIdle: () => running === 0 }
}

test('500 extensions without a subscription are each read once a minute, spread over the minute, and nothing is committed for them', async () => {
  await using one = await FaultCase.open({ work: false })
  const keys = await connectMany(one)
  const { provider, database } = one.world.gateway
  const looks = new Map<string, number[]>()
  let listing = 0
  let atOnce = 0
  provider.listMessages = async (token) => {
    atOnce = Math.max(atOnce, ++listing)
    looks.set(token, [...(looks.get(token) ?? []), one.clock.now()])
    await someTurns()
    listing--
    return { ok: true, value: [] }
  }
  const timers = countedTimers(one)
  const silent = new SilentExtensions(one.world.gateway, timers)
  for (const key of keys) silent.note(key, false)
  const runMinute = async (): Promise<void> => {
    for (let second = 0; second < 60; second++) {
      one.clock.advance(SECOND)
      await until(timers.areIdle)
    }
  }
  const seenAt = async () =>
    (await database.gate.execute('SELECT min(inbound_seen_at) AS first, max(inbound_seen_at) AS last FROM extensions'))
      .rows
  await runMinute()
  one.clock.advance(SECOND)
  await until(timers.areIdle)
  const before = await seenAt()
  looks.clear()
  for (let minute = 0; minute < 3; minute++) await runMinute()
  expect([...looks.values()].map((at) => at.length)).toEqual(Array.from({ length: MANY }, () => 3))
  expect(await seenAt()).toEqual(before)
  expect(atOnce).toBeLessThanOrEqual(MAX_SILENT_BACK_FILLS)
  // 8.3 on average.
  const perSecond = [...Map.groupBy([...looks.values()].flat(), (at) => at).values()]
  expect(Math.max(...perSecond.map((at) => at.length))).toBeLessThan(25)
}, 60_000)

test('nothing is planned for an extension that receives, and nothing more for one that is silent twice', async () => {
  await using one = await FaultCase.open({ work: false })
  const planned = new Map<string, number>()
  const silent = new SilentExtensions(one.world.gateway, {
    once: (name, ms) => void planned.set(name, ms),
    cancel: (name) => void planned.delete(name),
  })
  silent.note(keyOf(one), true)
  expect(planned.size).toBe(0)
  silent.note(keyOf(one), false)
  silent.note(keyOf(one), false)
  expect(planned.size).toBe(1)
  expect([...planned.values()].every((ms) => ms >= SECOND && ms <= 61 * SECOND)).toBe(true)
  silent.note(keyOf(one), true)
  expect(planned.size).toBe(0)
})
