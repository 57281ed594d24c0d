import { describe, expect, test } from 'bun:test'
import { Sgw } from '../../src/client/client.ts'
import { FROM, TO, type World, createWorld } from '../support/world.ts'
import { AnsweringServer, answer } from './answers.ts'

describe('a list', () => {
  test('goes through all pages, newest first', async () => {
    await using world = await createWorld({ work: false })
    const ids = await sendMany(world, 205)
    const sgw = clientOf(world)
    expect(await idsOf(sgw.sms.list())).toEqual(ids.toReversed())
    expect(await idsOf(sgw.sms.list({ limit: 7 }))).toEqual(ids.toReversed())
    expect(await idsOf(sgw.sms.list({ status: 'sent' }))).toEqual([])
    expect(await idsOf(sgw.sms.list({ state: 'waiting' }))).toEqual(ids.toReversed())
    expect(await idsOf(sgw.sms.list({ state: 'cancelled' }))).toEqual([])
  })

  test('can be read by the page', async () => {
    await using world = await createWorld({ work: false })
    const ids = await sendMany(world, 5)
    const list = clientOf(world).sms.list({ limit: 2 })
    const { messages, ...rest } = await list.page(3)
    expect(messages.map(({ messageId }) => messageId)).toEqual([ids[0] ?? ''])
    expect(rest).toEqual({ total: 5, page: 3, limit: 2 })
    expect(await list.page(4)).toEqual({ messages: [], total: 5, page: 4, limit: 2 })
  })

  test('has each message once although new ones come between its pages', async () => {
    await using world = await createWorld({ work: false })
    const ids = await sendMany(world, 30)
    const seen: string[] = []
    for await (const { messageId } of clientOf(world).sms.list({ limit: 5 })) {
      seen.push(messageId)
      await sendMany(world, 1)
    }
    expect(seen.filter((id) => ids.includes(id))).toEqual(ids.toReversed())
    expect(new Set(seen).size).toBe(seen.length)
  })

  test('pins the end of its range to the newest message of the first page', async () => {
    const message = (messageId: string, createdAt: string) => ({ messageId, createdAt })
    using server = new AnsweringServer(
      answer(200, {
        messages: [message('b', '2026-11-24T00:00:02.000Z'), message('a', '2026-11-24T00:00:01.000Z')],
        limit: 2,
      }),
      answer(200, { messages: [message('a', '2026-11-24T00:00:01.000Z')], limit: 2 }),
    )
    expect(await idsOf(server.client().sms.list({ limit: 2, endDate: '2026-11-25' }))).toEqual(['b', 'a'])
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v1/sms/messages?limit=2&endDate=2026-11-25&page=1',
      '/v1/sms/messages?limit=2&endDate=2026-11-24T00%3A00%3A02.000Z&page=2',
    ])
  })

  test('reads a page only when it is needed', async () => {
    using server = new AnsweringServer(answer(200, { attempts: [{ deliveryId: 'a', attemptNumber: 1 }], limit: 1 }))
    for await (const { deliveryId } of server.client().deliveries.list({ limit: 1 })) {
      expect(deliveryId).toBe('a')
      break
    }
    expect(server.requests).toHaveLength(1)
  })

  test('of opt-outs and of conversations goes through all pages, too', async () => {
    await using world = await createWorld({ work: false })
    const sgw = clientOf(world)
    const contacts = Array.from({ length: 12 }, (_, index) => `+1555555${1000 + index}`)
    for (const contact of contacts) {
      await sgw.optOuts.set({ number: FROM, contact, optedOut: true })
      await sgw.sms.send({ to: contact, from: FROM, body: 'Hello' })
    }
    const optOuts = await Array.fromAsync(sgw.optOuts.list({ limit: 5 }))
    expect(optOuts.map(({ contact }) => contact).toSorted()).toEqual(contacts)
    const conversations = await Array.fromAsync(sgw.conversations({ limit: 5 }))
    expect(conversations.map(({ contact }) => contact).toSorted()).toEqual(contacts)
    expect(conversations.every(({ optedOut }) => optedOut)).toBe(true)
    expect((await sgw.optOuts.list({ contact: contacts[3] ?? '' }).page(1)).total).toBe(1)
  })
})

const clientOf = (world: World): Sgw => new Sgw({ baseUrl: world.url, apiKey: world.key })

async function sendMany(world: World, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) ids.push(await world.send({ to: TO }))
  return ids
}

async function idsOf(list: AsyncIterable<{ messageId: string }>): Promise<string[]> {
  return (await Array.fromAsync(list)).map(({ messageId }) => messageId)
}
