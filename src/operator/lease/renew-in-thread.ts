import type { RenewalRequest, RenewedSoFar } from './renewal-thread.ts'
import type { Notice, Wish } from './renewal.ts'

/** Starts a `Renewal` in a thread, so that a busy event loop does not delay it. Returns a function that takes further wishes. */
export function renewInThread(from: RenewedSoFar, wish: Wish, hear: (notice: Notice) => void): (wish: Wish) => void {
  const thread = new Worker(threadUrl(), { smol: true })
  thread.unref()
  thread.addEventListener('message', ({ data }: MessageEvent<Notice>) => hear(data))
  const ended = (): void => hear({ type: 'lost', why: 'the thread that renews it has ended' })
  thread.addEventListener('error', ended)
  thread.addEventListener('close', ended)
  const post = (request: RenewalRequest): void => thread.postMessage(request, [])
  post({ from, wish })
  return (next) => post({ from: null, wish: next })
}

/** In a bundle, the thread's file is beside the entry point. */
const threadUrl = (): string =>
  new URL(import.meta.url.endsWith('.ts') ? './renewal-thread.ts' : './renewal-thread.js', import.meta.url).href
