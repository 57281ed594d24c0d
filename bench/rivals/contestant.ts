import type { ProviderHandle } from './provider-process.ts'

/** Who takes part in a bench: accepts messages over HTTP and hands each to the provider over HTTP. */
export interface Contestant {
  name: string
  /** The command that installs what is missing here; null if it can run. */
  missing(): string | null
  start(circumstances: Circumstances): Promise<Running>
}

export interface Circumstances {
  provider: ProviderHandle
  /** Added to the environment of every process of the contestant. */
  env: Record<string, string>
}

/** A started contestant with an empty store. Disposing ends its processes and removes its files. */
export interface Running extends AsyncDisposable {
  port: number
  /** The processes whose CPU time counts. */
  pids: number[]
  /** The whole request number `n`, headers and body, answered by 202 when the message is accepted. */
  request(n: number): string
  /** How many messages are stored as sent. */
  stored(): Promise<number>
}

/** Millions of people in no order, as in life: what is kept by the receiver's number is touched everywhere. */
export const toOf = (n: number): string => `+1555${String((n * 7_919_317) % 10_000_000).padStart(7, '0')}`

export const textOf = (n: number): string =>
  `Hello number ${n}, this is a message of an ordinary length, as people send them every day.`

export function postRequest(path: string, body: Record<string, string>, headers: readonly string[] = []): string {
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
