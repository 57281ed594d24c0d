import { ATTACHMENT_TIMEOUT_MS } from '../../core/limits.ts'
import { boundedText } from '../../net/http/bounded-text.ts'
import { HttpConnection } from '../../net/http/http-connection.ts'
import { HttpResponseReader } from '../../net/http/http-response-reader.ts'
import { headerLines, requestText } from '../../net/http/request-text.ts'
import { MAX_HEAD_BYTES, endpointOf } from './socket-transport.ts'
import { TIMEOUT, TOO_LARGE } from './transport.ts'

export interface DownloadRequest {
  url: URL
  headers: Readonly<Record<string, string>>
  maxBytes: number
  /** Limit until the first byte of the body. */
  timeoutMs: number
  /** Certificate authorities instead of the built-in ones. */
  ca?: string
}

/** A response whose body is still being read. It ends with an error if it is longer than allowed or takes too long. */
export interface Download {
  status: number
  header(name: string): string | null
  bytes: ReadableStream<Uint8Array>
}

/** `isEmpty`: it has no bytes. `ended` resolves when no more bytes are read: at the end, after an error, or on timeout. */
export type Downloading = Download & { isEmpty: boolean; ended: Promise<void> }

/** Starts a response whose head has arrived. Must stop reading when `signal` is aborted. */
export type Dial = (request: DownloadRequest, signal: AbortSignal) => Promise<Download>

/** Reads a response while passing it on. Rejects with an error that has a `code` unless a first byte arrives in time. */
export async function download(dial: Dial, request: DownloadRequest): Promise<Downloading> {
  const ending = new AbortController()
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const late = (): void => over(failed(TIMEOUT))
  const timers = [setTimeout(late, ATTACHMENT_TIMEOUT_MS), setTimeout(late, request.timeoutMs)]
  const over = (reason?: unknown): void => {
    timers.forEach(clearTimeout)
    ending.abort(reason)
    resolve()
  }
  try {
    const { status, header, bytes } = await dial(request, ending.signal)
    if (Number(header('content-length') ?? 0) > request.maxBytes) throw failed(TOO_LARGE)
    const reader = bytes.getReader()
    const piece = await reader.read()
    // The body of a refusal is read before anything is passed on, so it gets only the time of a call.
    if (status >= 200 && status < 300) clearTimeout(timers[1])
    const passed = bounded(reader, piece, request.maxBytes, over)
    return { status, header, bytes: passed, isEmpty: piece.done, ended }
  } catch (error) {
    over(error)
    throw error
  }
}

const failed = (code: string): Error => Object.assign(new Error(code), { code })

/** As `ReadableStreamDefaultReader.read` returns it. */
interface Piece {
  done: boolean
  value?: Uint8Array | undefined
}

/** The first piece, and the next ones on request. */
function bounded(
  reader: { read(): Promise<Piece> },
  first: Piece,
  maxBytes: number,
  over: (reason?: unknown) => void,
): ReadableStream<Uint8Array> {
  let ready: Piece | null = first
  let count = 0
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = ready ?? (await reader.read())
        ready = null
        count += value?.length ?? 0
        if (count > maxBytes) throw failed(TOO_LARGE)
        if (value !== undefined) controller.enqueue(value)
        if (!done) return
        over()
        controller.close()
      } catch (error) {
        over(error)
        controller.error(error)
      }
    },
    cancel: over,
  })
}

/** Without a proxy, on a separate connection. Buffers bytes that arrive before they are requested, at most `maxBytes`. */
export function dialSocket(request: DownloadRequest, signal: AbortSignal): Promise<Download> {
  const { url, headers, maxBytes, ca } = request
  return new Promise((resolve, reject) => {
    const connection = new HttpConnection(endpointOf(url, ca), new HttpResponseReader(MAX_HEAD_BYTES))
    let body: ReadableStreamDefaultController<Uint8Array> | null = null
    let count = 0
    const stop = (code: string): void => {
      const error = failed(code)
      connection.destroy()
      if (body === null) reject(error)
      else body.error(error)
    }
    signal.addEventListener('abort', () => stop(TIMEOUT))
    connection.send(requestText('GET', url.pathname, headerLines({ Host: url.host, ...headers }), null), {
      head(head) {
        const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => void (body = controller)
        const bytes = new ReadableStream<Uint8Array>({ start, cancel: () => connection.destroy() })
        resolve({ status: head.status, header: (name) => head.joined(name), bytes })
      },
      body(bytes) {
        count += bytes.length
        if (count > maxBytes) stop(TOO_LARGE)
        // The reader reuses the memory of the piece.
        else body?.enqueue(Uint8Array.from(bytes))
      },
      end: () => body?.close(),
      fail: ({ code }) => stop(code),
    })
  })
}

/** Through the proxy that HTTP_PROXY or HTTPS_PROXY names. */
export async function dialProxy({ url, headers, ca }: DownloadRequest, signal: AbortSignal): Promise<Download> {
  const tls = ca === undefined ? {} : { tls: { ca } }
  const response = await fetch(url, { headers, redirect: 'manual', decompress: false, signal, ...tls })
  const bytes: ReadableStream<Uint8Array> = response.body ?? new Blob([]).stream()
  return { status: response.status, header: (name) => response.headers.get(name), bytes }
}

/** The body of an answer that is not a download, such as an error. */
export const textOf = ({ bytes }: Download, maxBytes: number): Promise<string | null> => boundedText(bytes, maxBytes)
