import { type ClientRequest, type IncomingMessage, request as requestHttp, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Dialable } from './address-guard.ts'
import { type Failure, failureOf } from './failure.ts'
import { collectSnippet, NO_SNIPPET, type Snippet } from './snippet.ts'
import { bareHost, portOf } from './webhook-url.ts'

export interface ExchangeInput {
  url: URL
  /** The checked address that is dialled, whatever the URL's name means by now. */
  target: Dialable
  body: string
  headers: Readonly<Record<string, string>>
  /** Certificate authorities instead of the built-in ones. */
  ca?: string
}

export type Exchanged = ({ ok: true } & Head) | ({ ok: false } & Failure)

/** The status line has come; the body may still be coming. */
export interface Head {
  statusCode: number
  snippet: Snippet
  /** Hangs up; must be called. */
  close(): void
}

const MAX_HEADER_BYTES = 16_384
/** 100 Continue, 103 Early Hints …: an honest server sends one or two before its answer. */
const MAX_INTERIM_RESPONSES = 8

/**
 * One POST on a connection of its own, up to the response's status line and headers, or the system's error,
 * or `TimeoutError` after an abort of `signal`. Never rejects.
 *
 * By `node:http`, not `fetch`: Bun's fetch obeys HTTP_PROXY and HTTPS_PROXY without a way to decline, and a proxy
 * would look the name up again. This one follows no redirect, unpacks nothing, bounds headers (HPE_HEADER_OVERFLOW)
 * and stops reading when nobody takes the body.
 */
export function exchange(input: ExchangeInput, signal: AbortSignal): Promise<Exchanged> {
  const { promise, resolve } = Promise.withResolvers<Exchanged>()
  const request = open(input)
  const close = (): void => void request.destroy()
  const fail = (error: unknown): void => {
    resolve({ ok: false, ...failureOf(error) })
    close()
  }
  const answer = (message: IncomingMessage, snippet: Snippet, hangUp: () => void): void =>
    resolve({ ok: true, statusCode: message.statusCode ?? 0, snippet, close: hangUp })
  // These listen on after the promise has settled: an error event that nobody hears would end the process.
  request.on('error', fail)
  request.on('close', () => fail({ code: 'ECONNRESET' }))
  request.on(
    'information',
    countTo(MAX_INTERIM_RESPONSES, () => fail({ code: 'TooManyInterimResponses' })),
  )
  request.on('response', (message) => answer(message, collectSnippet(message), close))
  request.on('upgrade', (message, socket) => {
    socket.on('error', close)
    answer(message, NO_SNIPPET, () => socket.destroy())
  })
  onAbort(signal, () => fail({ code: 'TimeoutError' }))
  request.end(input.body)
  return promise
}

function open(input: ExchangeInput): ClientRequest {
  const { url, target, body } = input
  const options: RequestOptions = {
    method: 'POST',
    host: target.address,
    family: target.family,
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    headers: { ...input.headers, host: url.host, 'content-length': String(Buffer.byteLength(body)) },
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  }
  return url.protocol === 'https:' ? requestHttps({ ...options, ...tlsOptions(input) }) : requestHttp(options)
}

/** Certificates are always checked, also under NODE_TLS_REJECT_UNAUTHORIZED=0, and against the URL's name. */
function tlsOptions({ url, target, ca }: ExchangeInput): object {
  const host = bareHost(url.hostname)
  // RFC 6066: an address is never a server name; the certificate must then name the address itself.
  const servername = host === target.address ? {} : { servername: host }
  return { rejectUnauthorized: true, ...servername, ...(ca === undefined ? {} : { ca }) }
}

function countTo(limit: number, reached: () => void): () => void {
  let count = 0
  return () => {
    count += 1
    if (count === limit) reached()
  }
}

function onAbort(signal: AbortSignal, run: () => void): void {
  if (signal.aborted) run()
  else signal.addEventListener('abort', run, { once: true })
}
