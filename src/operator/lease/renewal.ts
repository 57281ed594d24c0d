import type { BackupSettings } from '../backup/settings.ts'
import type { LeaseContent } from './lease-object.ts'
import type { RenewalNotice, RenewalRequest } from './renewal-thread.ts'

export interface Renewed {
  etag: string
  /** The number of the newest nonce: `LeaseObject.written`. */
  written: number
  /** Wall-clock time at which the last renewal began. */
  startedAt: number
}

/** Renews a lease in a thread of its own. */
export class Renewal {
  readonly #thread: Worker
  readonly #over = Promise.withResolvers<void>()
  #last: Renewed

  constructor(
    settings: BackupSettings,
    content: Omit<LeaseContent, 'nonce'>,
    from: { writer: string; written: number; etag: string },
    renewed: (renewed: Renewed) => void,
  ) {
    this.#last = { ...from, startedAt: 0 }
    this.#thread = new Worker(threadUrl(), { smol: true })
    this.#thread.unref()
    this.#thread.addEventListener('message', ({ data }: MessageEvent<RenewalNotice>) => {
      this.#last = data
      if (data.type === 'renewed') renewed(data)
      else this.#over.resolve()
    })
    this.#thread.addEventListener('error', () => this.#over.resolve())
    this.#thread.addEventListener('close', () => this.#over.resolve())
    this.#post({ type: 'start', settings, content, ...from })
  }

  /** From now on this is written. */
  update(content: Omit<LeaseContent, 'nonce'>): void {
    this.#post({ type: 'update', content })
  }

  /** Resolves when nothing more is written, with what was written last. */
  async stop(): Promise<Renewed> {
    this.#post({ type: 'stop' })
    await this.#over.promise
    return this.#last
  }

  #post(request: RenewalRequest): void {
    this.#thread.postMessage(request)
  }
}

/** In a bundle the thread's file is beside the entry point. */
const threadUrl = (): string =>
  new URL(import.meta.url.endsWith('.ts') ? './renewal-thread.ts' : './renewal-thread.js', import.meta.url).href
