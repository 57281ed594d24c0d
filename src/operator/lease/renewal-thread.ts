import { RENEW_LEASE_EVERY_MS } from '../../core/limits.ts'
import { StartError } from '../../core/start-error.ts'
import type { BackupSettings } from '../backup/settings.ts'
import { type LeaseContent, LeaseObject } from './lease-object.ts'
import { ObjectStore } from './object-store.ts'

// The renewal thread: renews a lease while the process starts, because a migration of a large database holds the event loop for longer than
// a lease lasts.

export type RenewalRequest =
  | ({ type: 'start'; settings: BackupSettings; content: Omit<LeaseContent, 'nonce'>; writer: string } & Written)
  | { type: 'update'; content: Omit<LeaseContent, 'nonce'> }
  | { type: 'stop' }

interface Written {
  etag: string
  /** `LeaseObject.written` */
  written: number
}

/** `startedAt`: wall-clock time at which the renewal began. `over`: nothing more is written. */
export type RenewalNotice = Written & { type: 'renewed' | 'over'; startedAt: number }

declare const self: Worker

let content: Omit<LeaseContent, 'nonce'> | null = null
let isStopping = false
const stopped = Promise.withResolvers<void>()

self.addEventListener('message', ({ data: request }: MessageEvent<RenewalRequest>) => {
  if (request.type !== 'stop') content = request.content
  if (request.type === 'start') return void renewUntilStopped(request)
  if (request.type === 'update') return
  isStopping = true
  stopped.resolve()
})

async function renewUntilStopped(request: Extract<RenewalRequest, { type: 'start' }>): Promise<void> {
  const object = new LeaseObject(new ObjectStore(request.settings), request.writer)
  object.noteWritten(request.written)
  let { etag } = request
  let startedAt = Date.now()
  while (!isStopping) {
    startedAt = Date.now()
    const written = await object.write(content ?? request.content, etag).catch(retried)
    if (written === null) break
    if (written !== undefined) {
      etag = written
      post({ type: 'renewed', etag, written: object.written, startedAt })
    }
    await Promise.race([Bun.sleep(RENEW_LEASE_EVERY_MS), stopped.promise])
  }
  // If somebody else has written, the next renewal or check of the process finds it out.
  post({ type: 'over', etag, written: object.written, startedAt })
  setImmediate(() => process.exit(0))
}

/** Null if the object is no lease any more; undefined if the storage does not answer. */
const retried = (error: unknown): null | undefined => (error instanceof StartError ? null : undefined)

const post = (notice: RenewalNotice): void => self.postMessage(notice)
