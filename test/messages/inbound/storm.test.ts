import { expect, test } from 'bun:test'
import { seededRandom } from '../../../src/simulator/random.ts'
import { attempts, inboundMessages, postEvent, smsEvent, subscribe } from '../../support/provider-events.ts'
import { startReceiver } from '../../support/receiver.ts'
import { listenTo } from '../../support/socket.ts'
import { FROM, createWorld } from '../../support/world.ts'
import { untilNoJobs } from '../../support/retries.ts'

const EVENTS = 1000
const DUPLICATES = 300
const AT_ONCE = 200

test('of 1,000 shuffled events with 30 % duplicates, each is answered with 200 and stored and fanned out once', async () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  const ids = shuffledIds(seededRandom(seed))
  await using receiver = startReceiver()
  await using world = await createWorld()
  await world.json('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const token = await subscribe(world)

  const statuses = new Map<number, number>()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        const { status } = await postEvent(
          world,
          token,
          smsEvent({ id: id % 2 === 0 ? id : String(id), subject: `text ${id}` }),
        )
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }),
  )
  expect([...statuses]).toEqual([[200, EVENTS]])

  const distinct = EVENTS - DUPLICATES
  const posts = await receiver.received(distinct, 20_000)
  const { rows } = await world.gateway.database.gate.execute(
    'SELECT count(*) AS n, count(DISTINCT rc_message_id) AS ids, count(DISTINCT job_id) AS jobs FROM messages',
  )
  expect(rows[0]).toMatchObject({ n: distinct, ids: distinct, jobs: distinct })
  expect(new Set(posts.map((post) => post.body['rcMessageId'])).size).toBe(distinct)
  for (const { body } of posts) expect(body['body']).toBe(`text ${String(body['rcMessageId'])}`)
  expect((await inboundMessages(world, { limit: 1 })).total).toBe(distinct)
  await untilNoJobs(world)
  const log = await world.json<{ total: number }>('GET', '/v1/webhook-deliveries?outcome=success')
  expect(log.body.total).toBe(distinct)
  expect(receiver.requests).toHaveLength(distinct)
  expect(socket.ofType('sms_inbound')).toHaveLength(distinct)
  expect(new Set(socket.ofType('sms_inbound').map((event) => event['messageId'])).size).toBe(distinct)
})

test('fifty copies of an event and a back-fill lead to one message and one POST', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await world.json('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  const { messageId } = await world.control.injectSms({ text: 'once', to: FROM, deliver: false })
  const { deliveries } = await world.control.injectSms({ messageId, copies: 50 })
  expect(deliveries.map((delivery) => delivery.status)).toEqual(Array.from({ length: 50 }, () => 200))
  await receiver.received(1)
  await untilNoJobs(world)
  expect((await inboundMessages(world)).messages).toMatchObject([{ body: 'once', rcMessageId: messageId }])
  expect(receiver.requests).toHaveLength(1)
  expect(await attempts(world)).toHaveLength(1)
})

function shuffledIds(random: () => number): number[] {
  const distinct = Array.from({ length: EVENTS - DUPLICATES }, (_, index) => 3_062_991_000_000 + index)
  const copies = Array.from({ length: DUPLICATES }, () => distinct[Math.floor(random() * distinct.length)] ?? 0)
  const ids = [...distinct, ...copies]
  for (let at = ids.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    ;[ids[at], ids[other]] = [ids[other] ?? 0, ids[at] ?? 0]
  }
  return ids
}
