import { describe, expect, test } from 'bun:test'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { backFill } from '../../src/messages/inbound/back-fill.ts'
import { FROM, TO, type World } from '../support/world.ts'
import { FaultCase } from './fault-table/case.ts'
import { pass } from './fault-table/passing-time.ts'

// With Shared Inbox the texts to numbers that several users share go to message threads, not to the message store.

const MINUTE_MS = 60_000
const QUEUE = '+15555550150'
const COMPANY = '+15555550151'

interface Inbox extends AsyncDisposable {
  one: FaultCase
  world: World
  extensionId: string
}

/** One user with a number of its own, who texts from a queue's and from the company's, too. */
async function openInbox(
  settings: { messageThreads: boolean; readThreads?: boolean },
  events: 'webhook' | 'websocket' = 'webhook',
): Promise<Inbox> {
  const one = await FaultCase.open({ env: { RC_EVENTS: events } })
  const { world } = one
  const extensionId = world.control.extensions()[0]?.extensionId ?? ''
  world.control.configure(settings)
  world.control.addQueue({ numbers: [QUEUE], recipients: [extensionId] })
  world.control.addNumber({ extensionId, phoneNumber: COMPANY, usageType: 'MainCompanyNumber' })
  await readNumbers({ world, extensionId })
  return { one, world, extensionId, [Symbol.asyncDispose]: () => one[Symbol.asyncDispose]() }
}

const readNumbers = ({ world, extensionId }: Pick<Inbox, 'world' | 'extensionId'>) =>
  world.gateway.numbers.read({ tenantId: world.tenantId, extensionId })

async function fill({ world, extensionId }: Inbox): Promise<number | null> {
  const row = await world.gateway.directory.extension(world.tenantId, extensionId)
  if (row === null) throw new Error('The extension is gone')
  return backFill(world.gateway, row)
}

const textTo = ({ world }: Inbox, to: string, text: string) => world.control.injectSms({ from: TO, to, text })

async function inbound({ world }: Inbox): Promise<string[]> {
  const { body } = await world.json<{ messages: { body: string; to: string }[] }>(
    'GET',
    '/v1/sms/messages?direction=inbound&limit=100',
  )
  return body.messages.map(({ to, body: text }) => `${to} ${text}`).toSorted()
}

const untilStored = (inbox: Inbox, count: number, withinMs: number): Promise<true> =>
  pass(inbox.one, withinMs, async () => ((await inbound(inbox)).length >= count ? true : null))

interface Health {
  subscription: { status: string }
  reason: string | null
  fix: string | null
  numbers: { phoneNumber: string; inbound: string }[]
}

async function health({ world }: Inbox): Promise<Health & { places: Record<string, string> }> {
  const { body } = await world.json<{ extensions: Health[] }>('GET', '/v1/rc/extensions/health')
  const [one] = body.extensions
  if (one === undefined) throw new Error('No extension')
  return {
    ...one,
    places: Object.fromEntries(one.numbers.map(({ phoneNumber, inbound: place }) => [phoneNumber, place])),
  }
}

const doctor = async ({ world }: Inbox, name: string) =>
  (await diagnose(world.gateway)).find(({ check }) => check === name)

const firing = async ({ world }: Inbox): Promise<string[]> => {
  await world.gateway.alerts.check()
  return world.gateway.alerts.firing.map(({ alert }) => alert)
}

describe('with Shared Inbox', () => {
  test('texts to shared numbers are read from threads, and the others come as ever', async () => {
    await using inbox = await openInbox({ messageThreads: true })
    expect((await health(inbox)).places).toMatchObject({ [FROM]: 'here', [QUEUE]: 'threads', [COMPANY]: 'threads' })
    for (const to of [FROM, QUEUE, COMPANY]) await textTo(inbox, to, 'Hello')
    await untilStored(inbox, 3, 20 * MINUTE_MS)
    expect(await inbound(inbox)).toEqual([FROM, QUEUE, COMPANY].map((to) => `${to} Hello`).toSorted())
    expect(await health(inbox)).toMatchObject({ reason: null })
    expect(await doctor(inbox, 'subscriptions')).toMatchObject({ level: 'ok' })
  })
})

describe.each(['webhook', 'websocket'] as const)('events of Shared Inbox by %s', (events) => {
  const filtersOf = ({ world }: Inbox): string[] =>
    world.control.subscriptions().map(({ eventFilters }) => eventFilters.join(' ').replace(/^.*\/(?=message)/, ''))
  const INSTANT = 'instant?type=SMS'

  test('bring a text within seconds, over a subscription of their own, which ends with the feature', async () => {
    await using inbox = await openInbox({ messageThreads: true }, events)
    await pass(inbox.one, MINUTE_MS, () => (filtersOf(inbox).length === 2 ? true : null))
    await textTo(inbox, QUEUE, 'First')
    await untilStored(inbox, 1, 10_000)
    for (const text of ['a', 'b', 'c']) await textTo(inbox, QUEUE, text)
    await textTo(inbox, FROM, 'Own')
    await untilStored(inbox, 5, 15_000)
    // A burst is one reading.
    const syncs = inbox.world.control.requests({ route: 'thread-entries' }).length
    expect(syncs).toBeLessThan(8)
    expect(await health(inbox)).toMatchObject({ reason: null, subscription: { status: 'active' } })
    inbox.world.control.configure({ messageThreads: false })
    await readNumbers(inbox)
    await pass(inbox.one, 30 * MINUTE_MS, () => (filtersOf(inbox).length === 1 ? true : null))
    expect(filtersOf(inbox)[0]).toEndWith(INSTANT)
  })

  test('may be refused: the others go on, and threads are read each minute', async () => {
    await using inbox = await openInbox({ messageThreads: false }, events)
    const { control } = inbox.world
    await pass(inbox.one, MINUTE_MS, () => (filtersOf(inbox).length === 1 ? true : null))
    if (events === 'websocket') control.faultSockets({ kind: 'no-subscription', calls: null })
    else control.fault({ route: 'subscription-create', calls: null, fault: { kind: 'respond', status: 403 } })
    const created = (): number => control.requests({ route: 'subscription-create' }).length
    const before = created()
    control.configure({ messageThreads: true })
    await readNumbers(inbox)
    await pass(inbox.one, 2 * MINUTE_MS, () => (created() > before ? true : null))
    inbox.one.clock.advance(2 * MINUTE_MS)
    await textTo(inbox, FROM, 'Own')
    await untilStored(inbox, 1, 5000)
    await textTo(inbox, QUEUE, 'Shared')
    await untilStored(inbox, 2, 2 * MINUTE_MS)
    expect(filtersOf(inbox).length).toBe(1)
    expect(await health(inbox)).toMatchObject({ reason: null, subscription: { status: 'active' } })
  })
})

test.each([503, 429])(
  'a provider that answers %p when it is asked for the feature is asked again soon',
  async (status) => {
    await using inbox = await openInbox({ messageThreads: false })
    const { control } = inbox.world
    control.fault({ route: 'features', calls: 2, fault: { kind: 'respond', status } })
    control.configure({ messageThreads: true })
    await readNumbers(inbox)
    expect((await health(inbox)).places[QUEUE]).toBe('here')
    await textTo(inbox, QUEUE, 'Meanwhile')
    await untilStored(inbox, 1, 60 * MINUTE_MS)
    expect((await health(inbox)).places[QUEUE]).toBe('threads')
  },
)

describe('Shared Inbox that the app may not read', () => {
  test('health, doctor and an alert say which numbers receive nothing; it ends by itself', async () => {
    await using inbox = await openInbox({ messageThreads: true, readThreads: false })
    await textTo(inbox, QUEUE, 'Lost?')
    await textTo(inbox, FROM, 'Own')
    await fill(inbox)
    const reason = `Inbound texts to ${QUEUE}, ${COMPANY} go to RingCentral's Shared Inbox, which this app may not read`
    const seen = await health(inbox)
    expect(seen).toMatchObject({ reason, places: { [FROM]: 'here', [QUEUE]: 'elsewhere', [COMPANY]: 'elsewhere' } })
    expect(seen.fix).toContain('SMS')
    expect(await doctor(inbox, 'subscriptions')).toMatchObject({
      level: 'warn',
      detail: expect.stringContaining(reason),
    })
    await pass(inbox.one, 5 * MINUTE_MS, async () => ((await firing(inbox)).length > 0 ? true : null))
    expect(await firing(inbox)).toEqual(['extension_not_receiving'])
    expect(await inbound(inbox)).toEqual([`${FROM} Own`])
    inbox.world.control.configure({ readThreads: true })
    await untilStored(inbox, 2, 20 * MINUTE_MS)
    expect(await inbound(inbox)).toEqual([`${FROM} Own`, `${QUEUE} Lost?`].toSorted())
    expect(await health(inbox)).toMatchObject({ reason: null, places: { [QUEUE]: 'threads' } })
    expect(await firing(inbox)).toEqual([])
  })
})

describe('without Shared Inbox', () => {
  test('nothing is different, and features are asked for shared numbers alone', async () => {
    await using inbox = await openInbox({ messageThreads: false })
    for (const to of [FROM, QUEUE]) await textTo(inbox, to, 'Hello')
    await untilStored(inbox, 2, MINUTE_MS)
    expect((await health(inbox)).places).toMatchObject({ [FROM]: 'here', [QUEUE]: 'here', [COMPANY]: 'here' })
    const { requests } = inbox.world.control.counters()
    expect([requests['features'], requests['thread-messages'], requests['thread-entries']]).toEqual([
      1,
      undefined,
      undefined,
    ])
    await using plain = await FaultCase.open()
    expect(plain.world.control.counters().requests['features']).toBeUndefined()
  })
})

describe('a change of source', () => {
  test.each([true, false])(
    'to threads: %p. What came before it was noticed is read, resolved threads, too',
    async (toThreads) => {
      await using inbox = await openInbox({ messageThreads: !toThreads })
      await textTo(inbox, QUEUE, 'before')
      await untilStored(inbox, 1, 20 * MINUTE_MS)
      inbox.world.control.configure({ messageThreads: toThreads })
      await textTo(inbox, QUEUE, 'unnoticed')
      inbox.world.control.resolveThreads()
      inbox.one.clock.advance(30 * MINUTE_MS)
      await fill(inbox)
      await readNumbers(inbox)
      await textTo(inbox, QUEUE, 'after')
      await untilStored(inbox, 3, 20 * MINUTE_MS)
      expect(await inbound(inbox)).toEqual([`${QUEUE} after`, `${QUEUE} before`, `${QUEUE} unnoticed`])
      expect((await health(inbox)).places[QUEUE]).toBe(toThreads ? 'threads' : 'here')
    },
  )
})

describe('the same text in both stores around a change', () => {
  test.each([true, false])('to threads: %p, is one message, whatever its event does', async (toThreads) => {
    await using inbox = await openInbox({ messageThreads: !toThreads })
    const { control } = inbox.world
    control.configure({ indexDelayMs: 20_000 })
    await textTo(inbox, QUEUE, 'Twin')
    if (!toThreads) await untilStored(inbox, 1, 20 * MINUTE_MS)
    control.configure({ messageThreads: toThreads })
    control.faultEvents({ kind: 'delay', ms: 30_000, calls: 1 })
    await textTo(inbox, QUEUE, 'Twin')
    await readNumbers(inbox)
    await textTo(inbox, QUEUE, 'Next')
    await untilStored(inbox, 2, 5 * MINUTE_MS)
    inbox.one.clock.advance(MINUTE_MS)
    await fill(inbox)
    inbox.one.clock.advance(20 * MINUTE_MS)
    await fill(inbox)
    expect(await inbound(inbox)).toEqual([`${QUEUE} Next`, `${QUEUE} Twin`])
  })

  test('two equal texts of one store are two messages', async () => {
    await using inbox = await openInbox({ messageThreads: false })
    inbox.world.control.faultEvents({ kind: 'drop', calls: 2 })
    for (let left = 2; left > 0; left--) await textTo(inbox, QUEUE, 'Yes')
    inbox.world.control.configure({ messageThreads: true })
    await readNumbers(inbox)
    await untilStored(inbox, 2, 5 * MINUTE_MS)
    expect(await inbound(inbox)).toEqual([`${QUEUE} Yes`, `${QUEUE} Yes`])
  })
})

describe('the position of threads', () => {
  const positionOf = async ({ world, extensionId }: Inbox) => {
    const row = await world.gateway.directory.extension(world.tenantId, extensionId)
    return { token: row?.threadsToken ?? null, until: row?.threadsReadUntil ?? 0 }
  }
  const change = async ({ world }: Inbox, ...statements: { sql: string; args: (string | number | null)[] }[]) => {
    await world.gateway.database.writer.write(statements)
    world.gateway.directory.forget(world.tenantId)
  }
  const goBack = (inbox: Inbox, { token, until }: { token: string | null; until: number }) =>
    change(inbox, { sql: 'UPDATE extensions SET threads_token = ?1, threads_seen_at = ?2', args: [token, until] })

  test('is stored after what it brought: after a crash in between, or a restore, nothing is missing and nothing twice', async () => {
    await using inbox = await openInbox({ messageThreads: true })
    await textTo(inbox, QUEUE, 'One')
    await untilStored(inbox, 1, MINUTE_MS)
    await fill(inbox)
    const before = await positionOf(inbox)
    expect(before.token).not.toBeNull()
    for (const text of ['Two', 'Three']) await textTo(inbox, QUEUE, text)
    await untilStored(inbox, 3, MINUTE_MS)
    // The crash: the messages are stored, the position is not.
    await goBack(inbox, before)
    expect(await fill(inbox)).toBe(0)
    // The restore: neither is.
    await goBack(inbox, before)
    await change(inbox, { sql: `DELETE FROM messages WHERE body IN ('Two', 'Three')`, args: [] })
    expect(await fill(inbox)).toBe(2)
    // A copy from before threads were first read.
    await goBack(inbox, { token: null, until: before.until })
    inbox.world.control.resolveThreads()
    await change(inbox, { sql: 'DELETE FROM messages', args: [] })
    expect(await fill(inbox)).toBe(3)
    expect(await inbound(inbox)).toEqual(['One', 'Three', 'Two'].map((text) => `${QUEUE} ${text}`))
  })

  test('ends with a token that the provider does not know any more: then threads are listed by their time', async () => {
    await using inbox = await openInbox({ messageThreads: true })
    await textTo(inbox, QUEUE, 'One')
    await untilStored(inbox, 1, MINUTE_MS)
    await goBack(inbox, { ...(await positionOf(inbox)), token: 'of another time' })
    inbox.world.control.faultEvents({ kind: 'drop', calls: 1 })
    await textTo(inbox, QUEUE, 'Two')
    inbox.world.control.resolveThreads()
    await untilStored(inbox, 2, 20 * MINUTE_MS)
    expect((await positionOf(inbox)).token).toStartWith('entries-')
  })
})

test('while sends use all of the limit, threads are read all the same, no call is refused, and sends hardly wait for it', async () => {
  await using inbox = await openInbox({ messageThreads: true })
  const { world, one } = inbox
  world.control.setLimits({ enabled: true })
  const began = one.clock.now()
  for (let text = 0; text < 90; text++) await world.send({ from: QUEUE, body: `Out ${text}` })
  await pass(one, MINUTE_MS, () => (world.control.counters().requests['sms'] ?? 0) >= 30 || null)
  await textTo(inbox, QUEUE, 'In')
  await untilStored(inbox, 1, 90_000)
  await pass(one, 5 * MINUTE_MS, () => world.control.messages({ direction: 'Outbound' }).length === 90 || null)
  const requests = world.control.requests()
  expect(requests.filter(({ status }) => status === 429)).toEqual([])
  // 40 a minute, of which readings take few.
  expect(one.clock.now() - began).toBeLessThan(150_000)
})
