import { codeOf } from '../../core/error-code.ts'
import { controlSocketPath } from './settings.ts'

// Litestream's control socket. Source: server.go of Litestream 0.5.18.

export interface SyncLimits {
  timeoutMs: number
  /** Ends the wait immediately, for example when Litestream has ended. */
  signal?: AbortSignal
  /** Whether an answer of Litestream makes further tries useless. */
  isFinal?(answer: string): boolean
}

/** Pause between two attempts, while Litestream is starting or its storage fails. */
const RETRY_MS = 100

/**
 * Resolves when the storage has everything that the database has committed. Retries until the time limit; Litestream gives up an upload whose
 * request has ended. Errors: an `Error` with Litestream's last answer.
 */
export async function syncNow(databasePath: string, limits: SyncLimits): Promise<void> {
  const ended = new AbortController()
  const end = (): void => ended.abort()
  const timer = setTimeout(end, limits.timeoutMs)
  // `AbortSignal.any` would keep something of each call on a signal that lives as long as the process.
  limits.signal?.addEventListener('abort', end)
  if (limits.signal?.aborted === true) end()
  try {
    await syncUntil(databasePath, limits, ended.signal)
  } finally {
    clearTimeout(timer)
    limits.signal?.removeEventListener('abort', end)
  }
}

async function syncUntil(
  databasePath: string,
  { timeoutMs, signal, isFinal }: SyncLimits,
  ended: AbortSignal,
): Promise<void> {
  let answer = ''
  while (!ended.aborted) {
    const failure = await sync(databasePath, timeoutMs, ended)
    if (failure === null) return
    if (isFinal?.(failure) === true) throw new Error(failure)
    if (ended.aborted) break
    answer = failure
    await Bun.sleep(RETRY_MS)
  }
  if (signal?.aborted === true) throw new Error('Litestream has ended')
  throw new Error(`no success within ${Math.round(timeoutMs / 100) / 10} s${answer === '' ? '' : `: ${answer}`}`)
}

/** Returns why it failed; null if it succeeded. */
async function sync(databasePath: string, timeoutMs: number, signal: AbortSignal): Promise<string | null> {
  try {
    const response = await fetch('http://litestream/sync', {
      method: 'POST',
      unix: controlSocketPath(databasePath),
      keepalive: false,
      body: JSON.stringify({ path: databasePath, wait: true, timeout: Math.ceil(timeoutMs / 1000) }),
      signal,
    })
    if (response.ok) return null
    return reasonOf(await response.text())
  } catch (error) {
    return `Litestream does not answer (${codeOf(error) ?? 'no connection'})`
  }
}

function reasonOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: unknown }
    return oneLine(typeof error === 'string' ? error : body)
  } catch {
    return oneLine(body)
  }
}

const MAX_REASON = 300
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_REASON)
