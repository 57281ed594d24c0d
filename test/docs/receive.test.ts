import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catchUp, follow } from '../../examples/receive/events.ts'
import { PROJECT } from '../support/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, createWorld, until } from '../support/world.ts'

// These tests run the examples of docs/receive.md, and those in TypeScript that it links to, unchanged.

interface Examples {
  isFromGateway(headers: Headers, body: string, secret: string): Promise<boolean>
}

const PAGE = readFileSync(join(PROJECT, 'docs/receive.md'), 'utf8')
const blocksOf = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, block = '']) => block)

async function examples(): Promise<Examples> {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  try {
    await Bun.write(join(folder, 'examples.ts'), blocksOf('ts').join('\n'))
    return (await import(join(folder, 'examples.ts'))) as Examples
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a payload has the fields of the example, and the example’s function verifies it', async () => {
  const { isFromGateway } = await examples()
  await using world = await createWorld()
  await using receiver = startReceiver()
  const { app } = world
  await world.call('PUT', `/v1/apps/${app.appId}`, { body: { webhookUrl: receiver.url } })
  await world.control.injectSms({ to: FROM, from: '+15555550177', text: 'Hello yourself' })
  const [request] = await receiver.received(1)
  const raw = request?.raw ?? ''
  const example = JSON.parse(blocksOf('json')[0] ?? '') as object
  expect(Object.keys(request?.body ?? {})).toEqual(Object.keys(example))
  const headers = (changes: Record<string, string> = {}): Headers => new Headers({ ...request?.headers, ...changes })
  const secret = app.webhookSecret
  expect(await isFromGateway(headers(), raw, secret)).toBe(true)
  expect(await isFromGateway(headers(), `${raw} `, secret)).toBe(false)
  expect(await isFromGateway(headers(), raw, `${secret}x`)).toBe(false)
  const old = String(Math.floor(Date.now() / 1000) - 301)
  for (const changes of [
    { 'x-gateway-timestamp': old },
    { 'x-gateway-timestamp': '' },
    { 'x-gateway-signature': '' },
    { 'x-gateway-signature': `sha256=${'0'.repeat(64)}` },
  ])
    expect(await isFromGateway(headers(changes), raw, secret)).toBe(false)
})

test('the example’s WebSocket gets the events that the page lists', async () => {
  await using world = await createWorld()
  const { token } = (await (await world.call('POST', '/v1/ws/token')).json()) as { token: string }
  const events: { type: string; status?: string }[] = []
  const socket = follow(world.url, token, (event) => events.push(event))
  await until(() => events.length > 0)
  await world.send()
  await world.control.injectSms({ to: FROM, from: '+15555550177', text: 'Hello yourself' })
  await until(() => events.some(({ status }) => status === 'sent') && events.some(({ type }) => type === 'sms_inbound'))
  expect(events[0]).toEqual({ type: 'auth_ok' })
  for (const { type } of events) expect(PAGE).toContain(`| \`${type}\` |`)
  const statuses = events.flatMap(({ type, status }) => (type === 'sms_status' ? [status] : []))
  expect(statuses).toEqual(['queued', 'sending', 'sent'])
  socket.close()
})

test('the example catches up from the WebSocket’s cursor over several pages', async () => {
  await using world = await createWorld()
  const { token } = (await (await world.call('POST', '/v1/ws/token')).json()) as { token: string }
  const events: { type: string; cursor?: string }[] = []
  const socket = follow(world.url, token, (event) => events.push(event))
  const first = await until(() => events.find(({ type }) => type === 'cursor'))
  socket.close()
  const ids = await Promise.all(Array.from({ length: 35 }, (_, index) => world.send({ to: `+1555555${2000 + index}` })))
  for (const id of ids) await world.untilStatus(id)
  const missed: unknown[] = []
  const cursor = await catchUp(world.url, world.key, first.cursor ?? '', (event) => missed.push(event))
  expect(missed).toHaveLength(105)
  await catchUp(world.url, world.key, cursor, () => missed.push('more'))
  expect(missed).toHaveLength(105)
  expect(missed).toHaveLength(105)
})

test('what had no attempt is not recovered: it is in the event log and in the list, as the page says', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver()
  const { cursor } = (await (await world.call('GET', '/v1/events')).json()) as { cursor: string }
  await world.control.injectSms({ to: FROM, from: '+15555550177', text: 'Nobody was told' })
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  const recover = (since: string) => world.call('POST', '/v1/webhook-deliveries/recover', { body: { since } })
  expect((await recover('2h')).status).toBe(400)
  expect(await (await recover('2000-01-01T00:00:00Z')).json()).toEqual({ scheduled: 0 })
  const answer = await world.call('GET', `/v1/events?after=${cursor}`)
  const { events } = (await answer.json()) as { events: { timestamp: string }[] }
  expect(events).toMatchObject([{ type: 'sms_inbound', body: 'Nobody was told' }])
  const day = events[0]?.timestamp.slice(0, 10)
  const list = await world.call('GET', `/v1/sms/messages?direction=inbound&startDate=${day}`)
  expect(await list.json()).toMatchObject({ messages: [{ body: 'Nobody was told' }] })
})
