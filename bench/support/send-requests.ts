import type { Stage } from '../torture/stage.ts'
import { Connections } from './posts.ts'

const CONNECTIONS = 64

/** The whole HTTP request of message number `n`. */
const sendRequest = ({ key, numbers }: Stage, n: number): string => {
  const text = `Hello number ${n}, this is a message of an ordinary length, as people send them every day.`
  const body = JSON.stringify({ to: '+15555550199', from: numbers[0], body: text })
  return [
    'POST /v1/sms/send HTTP/1.1',
    'Host: gateway',
    `Authorization: Bearer ${key}`,
    `Content-Length: ${body.length}`,
    `\r\n${body}`,
  ].join('\r\n')
}

/** Messages number `from` up to, not including, `to`, over 64 connections; settles when all are accepted. */
export async function acceptMessages(stage: Stage, from: number, to: number): Promise<void> {
  using connections = await Connections.open(stage.gateway.options.port, CONNECTIONS)
  const requests = Array.from({ length: to - from }, (_, index) => sendRequest(stage, from + index))
  const { refused } = await connections.postAll(requests)
  if (refused > 0) throw new Error(`${refused} of ${to - from} messages were refused`)
}
