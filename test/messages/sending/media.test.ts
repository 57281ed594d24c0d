import { expect, test } from 'bun:test'
import { RETRY_AFTER_FAULT_MS } from '../../../src/core/limits.ts'
import { GIVE_UP } from '../../../src/messages/sending/attempt-rows.ts'
import { SendEngine } from '../../../src/messages/sending/engine.ts'
import { recoverSending } from '../../../src/messages/sending/recover.ts'
import { FaultCase } from '../../flows/fault-table/case.ts'
import { pass } from '../../flows/fault-table/passing-time.ts'
import { holdCalls } from '../../support/held-calls.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { PNG, pngOf, sendMedia } from '../../support/media.ts'
import { quarantine } from '../../support/quarantine.ts'
import { readyWorld } from '../../support/ready-world.ts'
import { FROM, FROM_2, TO, type World, type WorldOptions, createWorld, until } from '../../support/world.ts'

const MINUTE_MS = 60_000
const TOLL_FREE = '+18885550100'
const CANNOT = 'From number cannot send media'

const contact = (index: number): string => `+1555557${1000 + index}`

/** What the provider has accepted: the text, and the types of its media. */
const atProvider = ({ control }: World): [string, ...string[]][] =>
  control
    .messages({ direction: 'Outbound' })
    .map(({ text, attachments }) => [text ?? '', ...attachments.map(({ contentType }) => contentType)])

/** A world whose extension has a toll-free number as well. */
async function withTollFree(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld({ connect: false, ...options })
  const [{ extensionId } = { extensionId: '' }] = world.control.extensions()
  world.control.addNumber({ extensionId, phoneNumber: TOLL_FREE })
  if (!(await world.connect()).ok) throw new Error('The extension was not connected')
  return world
}

async function maySendMedia({ gateway, tenantId }: World, may: boolean): Promise<void> {
  await gateway.database.gate.execute(`UPDATE phone_numbers SET sends_media = ${may}`)
  gateway.directory.forget(tenantId)
}

const eventsOf = (world: World): string[] => {
  const events: string[] = []
  world.gateway.hub.subscribe((event) => void (event.type === 'sms_status' && events.push(event.status)))
  return events
}

test('a message with media goes out with its bytes, and the text of it is sent', async () => {
  await using world = await createWorld()
  const id = await sendMedia(world, { from: FROM, to: TO, body: 'Look' }, pngOf(700_000))
  expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
  expect(world.control.messages({ direction: 'Outbound' })).toMatchObject([
    { text: 'Look', attachments: [{ contentType: 'image/png', fileName: 'photo.png', size: 700_000 }] },
  ])
})

test('from a number that sends no media the message fails without a call, and the texts around it are sent', async () => {
  await using world = await withTollFree()
  const events = eventsOf(world)
  const id = await sendMedia(world, { from: TOLL_FREE, to: TO })
  expect(await world.untilStatus(id)).toMatchObject({ status: 'failed', error: CANNOT })
  expect(events).toEqual(['queued', 'sending', 'failed'])
  expect(world.control.requests({ route: 'sms' })).toEqual([])
  await world.untilStatus(await world.send({ from: TOLL_FREE, body: 'Only words' }), ['sent'])
  expect(atProvider(world)).toEqual([['Only words']])
})

test('a message that cannot be ended, because the disk is full, keeps the texts after it waiting', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { writer } = world.gateway.database
  await maySendMedia(world, false)
  const row = writer.row.bind(writer)
  let refused = 0
  writer.row = (operation, input) => {
    if ((operation as unknown) !== GIVE_UP || refused > 0) return row(operation, input)
    refused++
    return Promise.reject(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }))
  }
  const media = await sendMedia(world, { from: FROM, to: TO })
  await until(() => refused === 1)
  const text = await world.send({ from: FROM, to: TO, body: 'After it' })
  await world.untilStatus(await world.send({ from: FROM, to: contact(1), body: 'To another' }), ['sent'])
  expect(await world.status(text)).toMatchObject({ status: 'queued' })
  await maySendMedia(world, true)
  clock.advance(RETRY_AFTER_FAULT_MS)
  for (const id of [media, text]) await world.untilStatus(id, ['sent'])
  expect(atProvider(world)).toEqual([['To another'], ['', 'image/png'], ['After it']])
})

test.each([
  ['may', FROM, { status: 'sent' }],
  ['may not', TOLL_FREE, { status: 'failed', error: CANNOT }],
])(
  'after an upgrade the list of numbers is read once, and says that the number %s send media',
  async (_, from, end) => {
    await using world = await withTollFree()
    const { gateway, control, tenantId } = world
    await gateway.database.gate.execute('UPDATE phone_numbers SET sends_media = NULL')
    gateway.directory.forget(tenantId)
    control.clearRequests()
    expect(await world.untilStatus(await sendMedia(world, { from, to: TO }))).toMatchObject(end)
    expect(await world.untilStatus(await sendMedia(world, { from, to: TO }))).toMatchObject(end)
    expect(control.requests({ route: 'phone-number' })).toHaveLength(1)
  },
)

test('while the list of numbers cannot be read the message waits, says so, and texts go on', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { gateway, control, tenantId } = world
  await until(async () => (await gateway.database.gate.execute('SELECT 1 FROM jobs')).rows.length === 0)
  await gateway.database.gate.execute('UPDATE phone_numbers SET sends_media = NULL')
  gateway.directory.forget(tenantId)
  control.fault({ route: 'phone-number', calls: null, fault: { kind: 'respond', status: 500 } })
  const id = await sendMedia(world, { from: FROM, to: TO })
  await until(() => control.requests({ route: 'phone-number' }).some(({ status }) => status === 500))
  await world.untilStatus(await world.send({ to: contact(1), body: 'Goes on' }), ['sent'])
  const timeline = await world.json<{ waiting?: { reason: string } }>('GET', `/v1/sms/${id}/timeline`)
  expect(timeline.body.waiting?.reason).toBe('number_lookup')
  expect(await world.status(id)).toMatchObject({ status: 'queued' })
  control.clearFaults()
  const isSent = async () => {
    clock.advance(1000)
    return (await world.status(id))['status'] === 'sent'
  }
  await until(isSent)
  expect(atProvider(world)).toEqual([['Goes on'], ['', 'image/png']])
})

test('four calls of an extension have media at once, the next message waits, and texts do not wait for it', async () => {
  await using world = await readyWorld()
  const { gateway } = world
  const release = holdCalls(world, 'sendSms', '"media":[')
  const ids: string[] = []
  for (let index = 0; index < 6; index++)
    ids.push(await sendMedia(world, { from: FROM, to: contact(index), body: `${index}` }))
  const underWay = async (): Promise<number> =>
    (await Promise.all(ids.map((id) => world.status(id)))).filter(({ status }) => status === 'sending').length
  await until(async () => (await underWay()) === 4)
  await world.untilStatus(await world.send({ from: FROM, to: contact(10), body: 'text' }), ['sent'])
  await world.untilStatus(await world.send({ from: FROM_2, to: contact(11), body: 'text' }), ['sent'])
  const behind = await world.send({ from: FROM, to: contact(5), body: 'behind' })
  expect(await underWay()).toBe(4)
  expect(await world.status(behind)).toMatchObject({ status: 'queued' })
  release()
  for (const id of [...ids, behind]) expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
  const texts = atProvider(world).map(([text]) => text)
  expect(texts.indexOf('5')).toBeLessThan(texts.indexOf('behind'))
  expect(gateway.sending.scheduler.slots.inFlight).toBe(0)
})

test('sixteen calls in all have media at once, also of many extensions', async () => {
  await using world = await readyWorld()
  const { control, tenantId } = world
  const numbers = Array.from({ length: 5 }, (_, index) => `+1555558${1000 + index}`)
  for (const number of numbers) {
    const { extensionId } = control.addExtension({ numbers: [number] })
    await world.connect({ tenantId, extensionId })
  }
  const release = holdCalls(world, 'sendSms', '"media":[')
  const ids: string[] = []
  for (const from of numbers)
    for (let index = 0; index < 4; index++) ids.push(await sendMedia(world, { from, to: contact(index) }))
  const sending = async (): Promise<number> =>
    (await Promise.all(ids.map((id) => world.status(id)))).filter(({ status }) => status === 'sending').length
  await until(async () => (await sending()) === 16)
  await world.untilStatus(await world.send({ from: FROM, body: 'text' }), ['sent'])
  expect(await sending()).toBe(16)
  release()
  for (const id of ids) await world.untilStatus(id, ['sent'])
})

test('the settle time is a second longer for each 20 KB', async () => {
  await using one = await FaultCase.open()
  const { world } = one
  for (const [bytes, leastMs] of [
    [PNG.length, 31_000],
    [400_000, 50_000],
  ] as const) {
    one.applyFault({ method: 'sendSms', route: 'sms' }, { name: 'reset', play: () => ({ kind: 'reset' }) }, 1)
    const id = await sendMedia(world, { from: FROM, to: TO }, pngOf(bytes))
    expect(await one.ended(id, 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    const [first = 0, second = 0] = await one.attempts(id)
    expect(second - first).toBeGreaterThanOrEqual(leastMs)
    expect(second - first).toBeLessThan(leastMs + 20_000)
  }
  expect(one.atProvider).toBe(2)
})

/** Sends with the extension's own token what the gateway does not know, as a person does in RingCentral's app. */
async function sendByHand({ gateway, tenantId }: World, text: string, types: readonly string[]): Promise<void> {
  const [{ extensionId } = { extensionId: '' }] = (await gateway.directory.tenant(tenantId)).extensions.values()
  const media = types.map((contentType) => ({
    contentType,
    fileName: 'photo',
    size: PNG.length,
    read: () => Promise.resolve(PNG),
  }))
  const message = { from: FROM, to: TO, text, media: media.length === 0 ? undefined : media }
  const sent = await gateway.extensionCalls.make({ tenantId, extensionId }, 'medium', (token) =>
    gateway.provider.sendSms(token, message),
  )
  expect(sent.type).toBe('ok')
}

test.each<[string, string[], string[], boolean]>([
  ['a text', [], ['image/png'], false],
  ['a picture', ['image/png'], [], false],
  ['two pictures', ['image/png', 'image/png'], ['image/png'], false],
  ['the same picture', ['image/png'], ['image/png'], true],
])(
  'what was sent by hand with the same words (%s: %j) counts as a lost message with %j: %p',
  async (_, byHand, lost, isFound) => {
    await using one = await FaultCase.open()
    const { world } = one
    one.applyFault({ method: 'sendSms', route: 'sms' }, { name: 'reset', play: () => ({ kind: 'reset' }) }, 1)
    const message = { from: FROM, to: TO, body: 'Look' }
    const id = lost.length === 0 ? await world.send(message) : await sendMedia(world, message)
    await pass(one, MINUTE_MS, () => (world.control.requests({ route: 'sms' }).length === 1 ? true : null))
    await sendByHand(world, 'Look', byHand)
    expect(await one.ended(id, 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect(await one.attempts(id)).toHaveLength(isFound ? 1 : 2)
    expect(atProvider(world)).toEqual([['Look', ...byHand], ...(isFound ? [] : [['Look', ...lost] as [string]])])
  },
)

test('a record that differs in the types of its media alone makes nothing absent: the message is not sent again', async () => {
  await using one = await FaultCase.open()
  const { world } = one
  one.applyFault({ method: 'sendSms', route: 'sms' }, { name: 'reset', play: () => ({ kind: 'reset' }) }, 1)
  const id = await sendMedia(world, { from: FROM, to: TO, body: 'Look' })
  await pass(one, MINUTE_MS, () => (world.control.requests({ route: 'sms' }).length === 1 ? true : null))
  await sendByHand(world, 'Look', ['image/jpeg'])
  expect(await one.ended(id, 15 * MINUTE_MS, 5000)).toMatchObject({
    status: 'failed',
    error: 'Delivery could not be confirmed with the provider',
  })
  expect(atProvider(world)).toEqual([['Look', 'image/jpeg']])
})

test('an attempt with media that a crash has left open gets the longer settle time, and one of a text does not', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, outside: true })
  const { database, sending } = world.gateway
  world.control.fault({ route: 'sms', calls: 2, fault: { kind: 'hang' } })
  await sendMedia(world, { from: FROM, to: contact(1) }, pngOf(300_000))
  await world.send({ to: contact(2) })
  const open = `SELECT 1 FROM send_attempts WHERE closed_at IS NULL`
  await until(async () => (await database.gate.execute(open)).rows.length === 2)
  await database.gate.execute(`UPDATE send_attempts SET boot_id = 'boot_of_a_dead_process'`)
  const engine = new SendEngine({ ...sending.context, bootId: 'boot_of_the_next' })
  expect(await recoverSending(engine)).toBe(2)
  const busy = [...engine.scheduler.queues.all()].flatMap((queue) => [...queue.busy])
  const leftOf = (to: string): number =>
    (busy.find((entry) => entry.to === to)?.attempt?.absentAfter ?? 0) - Math.ceil(clock.steady())
  expect([leftOf(contact(1)), leftOf(contact(2))]).toEqual([45_000, 30_000])
})

test('after a restore a message with media is looked up when its longer settle time is over, and sent once', async () => {
  await using one = await FaultCase.open({ work: false })
  const { world, clock } = one
  const text = await world.send({ from: FROM, to: contact(1), body: 'text' })
  const withMedia = await sendMedia(world, { from: FROM, to: contact(2) }, pngOf(400_000))
  await quarantine(world)
  const startedAt = clock.now()
  world.running.work()
  expect(await one.ended(text, 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(30_000)
  expect(await world.status(withMedia)).toMatchObject({ status: 'queued' })
  expect(await one.ended(withMedia, 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(50_000)
  expect(atProvider(world)).toEqual([['text'], ['', 'image/png']])
})
