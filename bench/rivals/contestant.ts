import { fromOf, toOf } from '../gateway/numbers.ts'
import type { ProviderHandle } from './provider-process.ts'

/** A program that accepts messages over HTTP and sends each to the provider over HTTP. */
export interface Contestant {
  name: string
  /** The command that installs a missing program. Null if the contestant can run. */
  missing(): string | null
  start(circumstances: Circumstances): Promise<Running>
}

export interface Circumstances {
  provider: ProviderHandle
  /** Added to the environment of each of its processes. */
  env: Record<string, string>
}

/** A started contestant with an empty store. Disposing it ends its processes and removes its files. */
export interface Running extends AsyncDisposable {
  port: number
  /** The processes whose CPU time counts. */
  pids: number[]
  /** Returns the next request, headers and body. The contestant answers 202 if it accepts the message. */
  request(): string
  /** Returns the number of messages that are stored as sent. */
  stored(): Promise<number>
}

export interface Message {
  from: string
  to: string
  body: string
}

/** Creates the requests of one turn. Every contestant gets the same messages, and no two messages of a turn are alike. */
export function requests(requestOf: (message: Message) => string): () => string {
  let n = 0
  return () => requestOf(messageAt(n++))
}

const messageAt = (n: number): Message => ({
  from: fromOf(n),
  to: toOf(n),
  body: `Hello number ${n}, this is a message of an ordinary length, as people send them every day.`,
})

export function postRequest(path: string, body: Message, headers: readonly string[] = []): string {
  const json = JSON.stringify(body)
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    ...headers,
    `Content-Length: ${json.length}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${json}`
}
