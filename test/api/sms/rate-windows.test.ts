import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { worldWithEmptyWindows } from '../../support/ready-world.ts'
import { FROM, FROM_2, type World, createWorld, until } from '../../support/world.ts'

const OTHER_NUMBER = '+15555550142'

async function count(world: World, status: string): Promise<number> {
  return Number((await world.json('GET', `/v1/sms/messages?status=${status}`)).body['total'])
}

/** Waits until `sent` messages are sent and no call is under way. Returns the number of queued messages. */
async function untilSent(world: World, sent: number): Promise<number> {
  await until(async () => (await count(world, 'sent')) >= sent && (await count(world, 'sending')) === 0)
  // A message beyond the limit would be sent within these turns.
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  expect(await count(world, 'sent')).toBe(sent)
  return count(world, 'queued')
}

const pauseMs = (world: World): number =>
  world.gateway.quota.pauseMs(world.control.extensions()[0]?.extensionId ?? '', 'medium')

const untilPaused = (world: World): Promise<true> => until(() => pauseMs(world) > 0)

async function sendMany(world: World, from: string, texts: number, prefix = 'n'): Promise<void> {
  for (let index = 0; index < texts; index++) await world.send({ from, body: `${prefix} ${index}` })
}

test('an attempt whose mark cannot be written leaves the rate window after a minute', async () => {
  const { world, clock } = await worldWithEmptyWindows({ FROM_LIMIT_PER_MINUTE: '1', RECONCILE_SETTLE: '1s' })
  await using _ = world
  const { restoreMark, quota } = world.gateway
  const note = restoreMark.noteAttempt.bind(restoreMark)
  restoreMark.noteAttempt = () => {
    restoreMark.noteAttempt = note
    throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' })
  }
  const unmarked = await world.send()
  await until(() => restoreMark.noteAttempt === note)
  await until(async () => (await world.status(unmarked))['status'] === 'sending')
  expect(quota.numberWaitMs(FROM)).toBe(60_000)
  clock.advance(59_999)
  expect(quota.numberWaitMs(FROM)).toBe(1)
  clock.advance(1)
  expect(quota.numberWaitMs(FROM)).toBe(0)
})

test('a call under way keeps its slot in the rate window, however long the process is suspended', async () => {
  const { world, clock } = await worldWithEmptyWindows({ FROM_LIMIT_PER_MINUTE: '1' })
  await using _ = world
  const { provider, quota } = world.gateway
  const send = provider.sendSms
  const answered = Promise.withResolvers<void>()
  let calls = 0
  provider.sendSms = async (token, message) => {
    if (++calls === 1) await answered.promise
    return send(token, message)
  }
  await world.send({ body: 'first' })
  await until(() => calls === 1)
  await world.send({ body: 'second', to: '+15555550188' })
  clock.advance(300_000)
  expect(quota.numberWaitMs(FROM)).toBeGreaterThan(0)
  answered.resolve()
  await until(async () => (await count(world, 'sent')) === 1)
  expect(calls).toBe(1)
  clock.advance(60_000)
  await until(() => calls === 2)
})

test('a number sends 40 messages in 60 seconds; the others stay queued without an error and follow in order', async () => {
  const { world, clock } = await worldWithEmptyWindows({ EXTENSION_LIMIT_PER_MINUTE: '1000' })
  await using _ = world
  world.control.setLimits({ enabled: false })
  await sendMany(world, FROM, 43)
  expect(await untilSent(world, 40)).toBe(3)
  const { body } = await world.json<{ messages: Record<string, unknown>[] }>('GET', '/v1/sms/messages?status=queued')
  for (const message of body.messages) expect(message).toMatchObject({ error: null, rcMessageId: null })
  clock.advance(59_999)
  expect(await untilSent(world, 40)).toBe(3)
  clock.advance(1)
  expect(await untilSent(world, 43)).toBe(0)
  expect(
    world.control
      .messages({ direction: 'Outbound' })
      .slice(40)
      .map((message) => message.text),
  ).toEqual(['n 40', 'n 41', 'n 42'])
})

test('the window slides: slots become free one by one, in the order in which they were used', async () => {
  const { world, clock } = await worldWithEmptyWindows({ FROM_LIMIT_PER_MINUTE: '2' })
  await using _ = world
  await sendMany(world, FROM, 1, 'a')
  await untilSent(world, 1)
  clock.advance(30_000)
  await sendMany(world, FROM, 3, 'b')
  expect(await untilSent(world, 2)).toBe(2)
  clock.advance(30_000)
  expect(await untilSent(world, 3)).toBe(1)
  clock.advance(30_000)
  expect(await untilSent(world, 4)).toBe(0)
})

test('a slot becomes free a minute after its call was answered, because the provider may have counted the call as late as that', async () => {
  const { world, clock } = await worldWithEmptyWindows({ FROM_LIMIT_PER_MINUTE: '2' })
  await using _ = world
  const { provider } = world.gateway
  const { sendSms } = provider
  const late = Promise.withResolvers<void>()
  provider.sendSms = async (token, message) => (await late.promise, sendSms(token, message))
  for (let n = 0; n < 3; n++) await world.send({ to: `+1555777100${n}` })
  await until(async () => (await count(world, 'sending')) === 2)
  clock.advance(10_000)
  late.resolve()
  expect(await untilSent(world, 2)).toBe(1)
  clock.advance(59_999)
  expect(await untilSent(world, 2)).toBe(1)
  clock.advance(1)
  expect(await untilSent(world, 3)).toBe(0)
})

test('each number has a window of its own', async () => {
  const { world } = await worldWithEmptyWindows({ FROM_LIMIT_PER_MINUTE: '2' })
  await using _ = world
  await sendMany(world, FROM, 3)
  expect(await untilSent(world, 2)).toBe(1)
  await sendMany(world, FROM_2, 2)
  expect(await untilSent(world, 4)).toBe(1)
})

test('a number’s window survives a restart', async () => {
  const clock = manualClock()
  const env = { FROM_LIMIT_PER_MINUTE: '2' }
  await using first = await createWorld({ clock, env })
  await sendMany(first, FROM, 3)
  expect(await untilSent(first, 2)).toBe(1)
  await first.running.stop()
  clock.advance(10_000)
  await using second = await createWorld({ clock, env, folder: first.folder, connect: false })
  const waiting = async (): Promise<number> =>
    Number((await second.json('GET', '/v1/sms/messages?status=queued', { key: first.key })).body['total'])
  for (let turn = 0; turn < 20; turn++) expect(await waiting()).toBe(1)
  expect(second.control.requests({ route: 'sms' })).toEqual([])
})

test('an extension’s numbers and its subscription calls share 40 calls per 60 seconds', async () => {
  const { world, clock } = await worldWithEmptyWindows()
  await using _ = world
  await sendMany(world, FROM, 25, 'first')
  await sendMany(world, FROM_2, 25, 'second')
  expect(await untilSent(world, 40)).toBe(10)
  expect(world.control.requests().filter((request) => request.status === 429)).toEqual([])
  clock.advance(60_000)
  expect(await untilSent(world, 50)).toBe(0)
})

test('a 429 pauses only its extension, for Retry-After', async () => {
  const { world, clock } = await worldWithEmptyWindows()
  await using _ = world
  const bob = world.control.addExtension({ name: 'Bob', numbers: [OTHER_NUMBER] })
  await world.connect({ extensionId: bob.extensionId })
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '30' } } })
  const met = await world.send({ body: 'met the 429' })
  await until(() => world.control.requests({ route: 'sms' }).length === 1)
  await untilPaused(world)
  const behind = await world.send({ body: 'behind it', from: FROM_2 })
  const elsewhere = await world.send({ body: 'elsewhere', from: OTHER_NUMBER })
  await world.untilStatus(elsewhere, ['sent'])
  expect(await world.status(met)).toMatchObject({ status: 'sending', error: null })
  expect(await world.status(behind)).toMatchObject({ status: 'queued' })
  clock.advance(29_999)
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  expect(world.control.requests({ route: 'sms' })).toHaveLength(2)
  clock.advance(1)
  await world.untilStatus(met, ['sent'])
  await until(async () => {
    clock.advance(100)
    return (await world.status(behind))['status'] === 'sent'
  })
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(3)
})

test('a 429 without Retry-After pauses the extension for a minute', async () => {
  const { world, clock } = await worldWithEmptyWindows()
  await using _ = world
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '' } } })
  const id = await world.send()
  await untilPaused(world)
  expect(pauseMs(world)).toBe(60_000)
  clock.advance(60_000)
  expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
})
