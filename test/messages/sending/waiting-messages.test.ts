import { expect, test } from 'bun:test'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { CLAIM } from '../../../src/messages/sending/attempt-rows.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { FROM_2, type World, createWorld, until } from '../../support/world.ts'

// Messages wait in memory for a slot. Changes meanwhile must take effect.

const TEXTS = Array.from({ length: 6 }, (_, index) => `text ${index}`)
/** The number of parallel sends. Of 128 calls, 16 are reserved for others. */
const SLOTS = 112
/** How far each look at the messages moves the time: twenty looks are a try again. */
const STEP_MS = 50

interface Waiting {
  world: World
  clock: ManualClock
  ids: string[]
  go: () => void
}

/** Slow messages of another number use all slots, and six more messages wait. `go` ends the slow ones. */
async function waiting(): Promise<Waiting> {
  const clock = manualClock()
  const limits = { FROM_LIMIT_PER_MINUTE: '1000', EXTENSION_LIMIT_PER_MINUTE: '1000' }
  const world = await createWorld({ clock, env: { ...limits, BUN_CONFIG_MAX_HTTP_REQUESTS: '128' } })
  world.control.setLimits({ enabled: false })
  const { provider } = world.gateway
  const finished = Promise.withResolvers<void>()
  const send = provider.sendSms
  provider.sendSms = async (token, message) => {
    if (message.text.startsWith('slow')) await finished.promise
    return send(token, message)
  }
  await Promise.all(
    Array.from({ length: SLOTS }, (_, index) =>
      world.send({ from: FROM_2, to: `+1555777${1000 + index}`, body: `slow ${index}` }),
    ),
  )
  await until(async () => (clock.advance(STEP_MS), (await count(world, 'sending')) === SLOTS))
  const ids: string[] = []
  for (const body of TEXTS) ids.push(await world.send({ body }))
  return { world, clock, ids, go: finished.resolve }
}

const count = async (world: World, status: string): Promise<number> =>
  Number((await world.json('GET', `/v1/sms/messages?status=${status}`)).body['total'])

const sentTexts = (world: World): string[] =>
  world.control
    .messages({ direction: 'Outbound' })
    .map(({ text }) => text ?? '')
    .filter((text) => text.startsWith('text'))
    .toSorted()

/** The end of a message. Time passes until then, because a message that cannot start now is tried again later. */
const endOf = ({ world, clock }: Waiting, id: string, key = world.key): Promise<string> =>
  until(async () => {
    clock.advance(STEP_MS)
    const { status } = await world.status(id, { key })
    return status === 'sent' || status === 'failed' ? status : null
  })

async function untilAll(all: Waiting, ids: readonly string[], state: string): Promise<void> {
  for (const id of ids) expect(await endOf(all, id)).toBe(state)
}

test('a cancelled message is not sent and delays no other message of its number', async () => {
  const all = await waiting()
  const { world, ids, go } = all
  await using _ = world
  const [cancelled = '', ...others] = ids
  expect((await world.call('DELETE', `/v1/sms/${cancelled}`)).status).toBe(200)
  go()
  await untilAll(all, others, 'sent')
  expect(sentTexts(world)).toEqual(TEXTS.slice(1))
}, 30_000)

test('messages of a suspended tenant stay queued, and are sent once when it is active again', async () => {
  const all = await waiting()
  const { world, ids, go } = all
  await using _ = world
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  const { tenantId, apiKey: key } = await world.otherTenant()
  await world.connect({ tenantId })
  go()
  // When later messages of another tenant have ended, all possible sends have begun.
  for (const body of ['one', 'another', 'the last']) {
    const id = await world.send({ body }, { key })
    expect(await endOf(all, id, key)).toBe('sent')
  }
  expect(sentTexts(world)).toEqual([])
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  await untilAll(all, ids, 'sent')
  expect(sentTexts(world)).toEqual(TEXTS)
}, 30_000)

test('messages of a disconnected tenant fail and leave no job', async () => {
  const all = await waiting()
  const { world, clock, ids, go } = all
  await using _ = world
  let isDisconnected = false
  const disconnected = world.call('POST', '/v1/rc/disconnect').finally(() => (isDisconnected = true))
  await until(() => world.gateway.directory.isDisconnecting(world.tenantId, null))
  go()
  await until(() => (clock.advance(STEP_MS), isDisconnected))
  expect((await disconnected).status).toBe(200)
  await untilAll(all, ids, 'failed')
  expect(sentTexts(world)).toEqual([])
  expect((await world.gateway.database.gate.execute('SELECT 1 FROM jobs')).rows).toEqual([])
}, 30_000)

test('while no attempt can be stored nothing is sent, and afterwards each message is sent once', async () => {
  const all = await waiting()
  const { world, clock, ids, go } = all
  await using _ = world
  const { writer } = world.gateway.database
  const row = writer.row.bind(writer)
  let refusals = 0
  let isFull = true
  writer.row = (operation, value) => {
    if (!Object.is(operation, CLAIM) || !isFull) return row(operation, value)
    refusals++
    return Promise.reject(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }))
  }
  go()
  await until(() => (clock.advance(STEP_MS), refusals >= 3))
  expect(sentTexts(world)).toEqual([])
  isFull = false
  await untilAll(all, ids, 'sent')
  expect(sentTexts(world)).toEqual(TEXTS)
}, 30_000)
