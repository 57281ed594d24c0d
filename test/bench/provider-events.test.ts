import { expect, test } from 'bun:test'
import { OURS } from '../../bench/gateway/source.ts'
import { Connections } from '../../bench/support/posts.ts'
import { openEventGateway } from '../../bench/support/provider-events.ts'

test("a gateway accepts the bench's events as events of its provider", async () => {
  const { gateway, events } = await openEventGateway(OURS)
  await using _gateway = gateway
  using connections = await Connections.open(gateway.port, 2)
  const { refused } = await connections.postAll(events.requests(5))
  expect(refused).toBe(0)
  const inbound = await gateway.call<{ total: number }>('GET', '/v1/sms/messages?direction=inbound')
  expect(inbound.total).toBe(5)
})
