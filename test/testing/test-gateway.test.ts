import { expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type TestGateway, startTestGateway } from '../../src/testing/index.ts'
import { PROVIDER_PACE } from '../../src/messages/receipts/poll-plan.ts'
import { failureOf, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/world.ts'
import { CONTACT, call, entriesOnce, send } from './gateways.ts'

/** A hanging call ends after this time. `bench/test-kit.ts` measures how fast a stop is. */
const HANGING_CALL_MS = 5000

const messagesOf = async (gateway: TestGateway): Promise<Record<string, unknown>[]> =>
  (await call<{ messages: Record<string, unknown>[] }>(gateway, 'GET', '/v1/sms/messages')).messages

/** The folders of this process. Tests in other processes have their own. */
const kitFolders = (): string[] =>
  ['/dev/shm', tmpdir()].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(`sgw-kit-${process.pid}-`)) : [],
  )

test('a message reaches the phone, and is delivered before RingCentral would be asked for the first time', async () => {
  await using gateway = await startTestGateway()
  const id = await send(gateway, 'Hello')
  const message = await gateway.phone(CONTACT).waitFor('Hello')
  expect(message).toEqual({
    from: gateway.numbers[0]!,
    to: CONTACT,
    text: 'Hello',
    attachments: [],
    at: expect.any(String),
  })
  expect(await entriesOnce(gateway, id, 'delivered')).toEqual(['queued', 'attempt accepted', 'sent', 'delivered'])
  const { entries } = await call<{ entries: { type: string; at: string }[] }>(gateway, 'GET', `/v1/sms/${id}/timeline`)
  const at = (type: string): number => Date.parse(entries.find((entry) => entry.type === type)!.at)
  expect(at('delivered') - at('sent')).toBeLessThan(PROVIDER_PACE.agesMs[0]!)
})

test('the client sends, and follows what happens', async () => {
  await using gateway = await startTestGateway()
  const { client, numbers } = gateway
  const abort = new AbortController()
  const online = Promise.withResolvers<void>()
  const events = client.events({ signal: abort.signal, onState: (state) => state.online && online.resolve() })
  const seen = (async () => {
    const types: string[] = []
    for await (const event of events) {
      types.push(event.type === 'sms_status' ? event.status : event.type)
      if (event.type === 'sms_inbound') abort.abort()
    }
    return types
  })()
  await online.promise
  expect(await client.sms.sendAndWait({ from: numbers[0]!, to: CONTACT, body: 'Hello' })).toMatchObject({
    status: 'sent',
  })
  await gateway.phone(CONTACT).reply('Hi')
  expect((await seen).filter((type) => type !== 'sms_delivery')).toEqual(['queued', 'sending', 'sent', 'sms_inbound'])
})

test('after STOP messages are sent and do not reach the phone, until START', async () => {
  await using gateway = await startTestGateway()
  const phone = gateway.phone(CONTACT)
  await phone.reply('STOP')
  const blocked = await send(gateway, 'blocked')
  expect(await entriesOnce(gateway, blocked, 'undelivered')).toEqual([
    'queued',
    'attempt accepted',
    'sent',
    'undelivered',
  ])
  expect(await call(gateway, 'GET', `/v1/sms/${blocked}/timeline`)).toMatchObject({
    entries: expect.arrayContaining([expect.objectContaining({ type: 'undelivered', errorCode: 'SMS-RC-413' })]),
  })
  await phone.reply('START')
  await send(gateway, 'again')
  await phone.waitFor('again')
  expect(phone.inbox.map(({ text }) => text)).toEqual(['again'])
})

test('gateways side by side share nothing', async () => {
  const gateways = await Promise.all(Array.from({ length: 4 }, () => startTestGateway()))
  try {
    await Promise.all(gateways.map((gateway, index) => send(gateway, `to ${index}`)))
    await Promise.all(gateways.map((gateway, index) => gateway.phone(CONTACT).waitFor(`to ${index}`)))
    for (const gateway of gateways) {
      expect(gateway.phone(CONTACT).inbox).toHaveLength(1)
      expect(await messagesOf(gateway)).toHaveLength(1)
    }
    expect(new Set(gateways.map(({ url }) => url)).size).toBe(4)
    await gateways[0]!.stop()
    await send(gateways[1]!, 'later')
    await gateways[1]!.phone(CONTACT).waitFor('later')
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()))
  }
})

test('there are no limits: 200 messages from one number go out at once', async () => {
  await using gateway = await startTestGateway()
  const phone = gateway.phone(CONTACT)
  await Promise.all(Array.from({ length: 200 }, (_value, index) => send(gateway, `number ${index}`)))
  await phone.waitFor(() => phone.inbox.length === 200, { timeoutMs: 20_000 })
})

test('a stop does not wait for a provider and a webhook that hang, and leaves no file behind', async () => {
  const before = kitFolders()
  const gateway = await startTestGateway()
  await using receiver = startReceiver()
  const asked = Promise.withResolvers<void>()
  receiver.answer = () => {
    asked.resolve()
    return new Promise(() => undefined)
  }
  const { apps } = await call<{ apps: { appId: string }[] }>(gateway, 'GET', '/v1/apps')
  await call(gateway, 'PUT', `/v1/apps/${apps[0]!.appId}`, { webhookUrl: receiver.url })
  await gateway.phone(CONTACT).reply('Hi')
  await asked.promise
  gateway.provider.next('hang')
  const id = await send(gateway, 'Hello')
  await until(async () => (await call(gateway, 'GET', `/v1/sms/status/${id}`))['status'] === 'sending')
  const startedAt = performance.now()
  await gateway.stop()
  expect(performance.now() - startedAt).toBeLessThan(HANGING_CALL_MS)
  await gateway.stop()
  expect(await fetch(`${gateway.url}/health`).catch(() => null)).toBeNull()
  expect(kitFolders().filter((name) => !before.includes(name))).toEqual([])
})

test('a program can end at once after a stop', async () => {
  await using receiver = startReceiver()
  receiver.answer = () => new Promise(() => undefined)
  const program = new URL('fixtures/stop-with-hanging-calls.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, program, receiver.url], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  await receiver.received(1)
  await child.stdin.end()
  const stoppedAt = (async () => {
    for await (const _chunk of child.stdout) return performance.now()
    throw new Error('It printed nothing')
  })()
  expect(await child.exited).toBe(0)
  expect(performance.now() - (await stoppedAt)).toBeLessThan(HANGING_CALL_MS)
})

test('files that a test makes keep their mode', async () => {
  using folder = temporaryFolder()
  const modeOfNew = (name: string): number => {
    writeFileSync(folder.file(name), '')
    return statSync(folder.file(name)).mode
  }
  const before = modeOfNew('before')
  await using _gateway = await startTestGateway()
  expect(modeOfNew('after')).toBe(before)
})

test('time moves forward: a message that is scheduled for tomorrow goes out', async () => {
  await using gateway = await startTestGateway()
  const tomorrow = Date.now() + 86_400_000
  const id = await send(gateway, 'Your appointment is today', { sendAt: new Date(tomorrow).toISOString() })
  await gateway.advance('23h')
  expect((await call(gateway, 'GET', `/v1/sms/status/${id}`))['status']).toBe('queued')
  await gateway.advance(3_600_000)
  const { at } = await gateway.phone(CONTACT).waitFor('appointment')
  expect(Date.parse(at)).toBeGreaterThanOrEqual(tomorrow)
  expect(String(await failureOf(gateway.advance('a while')))).toContain('Cannot advance by a while')
})

test('a gateway works on after any time: its tokens and its subscription are good for years', async () => {
  await using gateway = await startTestGateway()
  for (const days of [1, 30, 400]) {
    await gateway.advance(`${days}d`)
    await send(gateway, `after ${days} more days`)
    await gateway.phone(CONTACT).waitFor(`after ${days} more`)
    await gateway.phone(CONTACT).reply(`answer ${days}`)
    expect((await messagesOf(gateway)).map(({ body }) => body)).toContain(`answer ${days}`)
  }
})
