import { type Log, errorName } from '../core/log.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { InboundSubscriptions } from './inbound-subscriptions.ts'
import type { Provider } from './provider.ts'

interface EventsContext {
  provider: Pick<Provider, 'parseInboundEvent'>
  log: Log
  /** Called when an event could not be stored. */
  notStored(key: ExtensionKey): void
}

/** The events from sockets that are not on disk yet. */
export class SocketEvents {
  receive: InboundSubscriptions['receive'] = () => Promise.resolve()
  readonly #storing = new Set<Promise<void>>()

  constructor(readonly context: EventsContext) {}

  store(key: ExtensionKey, body: unknown): void {
    const stored = this.#store(key, body).finally(() => this.#storing.delete(stored))
    this.#storing.add(stored)
  }

  /** Resolves when all events so far are stored, or have failed to be. */
  async stored(): Promise<void> {
    await Promise.allSettled(this.#storing)
  }

  async #store(key: ExtensionKey, body: unknown): Promise<void> {
    try {
      await this.receive(key, this.context.provider.parseInboundEvent(body))
    } catch (error) {
      this.context.log.error({ ...key, error: errorName(error) }, 'an event could not be stored')
      this.context.notStored(key)
    }
  }
}
