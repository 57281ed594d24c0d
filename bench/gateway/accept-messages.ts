import { postRequest, requests } from '../rivals/contestant.ts'
import { Connections } from '../support/posts.ts'
import type { BenchGateway } from './bench-gateway.ts'

const CONNECTIONS = 64

/** Returns a function that sends `count` more messages over 64 connections and resolves when all are accepted. */
export function messageSender(gateway: BenchGateway): (count: number) => Promise<void> {
  const next = requests((message) => postRequest('/v1/sms/send', message, [`Authorization: Bearer ${gateway.key}`]))
  return async (count) => {
    using connections = await Connections.open(gateway.port, CONNECTIONS)
    const { refused } = await connections.postAll(Array.from({ length: count }, next))
    if (refused > 0) throw new Error(`${refused} of ${count} messages were refused`)
  }
}
