import { Limiter, type Slot } from '../core/limiter.ts'
import { MAX_SUBSCRIBING } from '../core/limits.ts'
import type { Topic } from '../db/schema/connections.ts'
import type { EventSocket, EventSocketRequest } from './event-socket.ts'
import type { CallResult, ExtensionCalls } from './extension-calls.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { Provider } from './provider.ts'
import type { Quota } from './quota.ts'

export interface OpenerContext {
  /** The topic of the sockets' events. */
  topic: Topic
  provider: Provider
  extensionCalls: ExtensionCalls
  quota: Quota
}

/** Opens event sockets: a few at once, and for each user no more often than its limit of tickets allows. */
export class SocketOpener {
  readonly #slots = new Limiter({ total: MAX_SUBSCRIBING, perTenant: MAX_SUBSCRIBING })

  constructor(readonly context: OpenerContext) {}

  /** `isWanted` is called at the extension's turn. */
  async open(
    key: ExtensionKey,
    request: Omit<EventSocketRequest, 'topic'>,
    isWanted: () => Promise<boolean>,
  ): Promise<CallResult<EventSocket>> {
    const slot = await new Promise<Slot>((granted) => void this.#slots.request(key.tenantId, [], granted))
    try {
      return (await isWanted()) ? await this.#open(key, request) : { type: 'gone', failure: null }
    } finally {
      slot.release()
    }
  }

  async #open(key: ExtensionKey, request: Omit<EventSocketRequest, 'topic'>): Promise<CallResult<EventSocket>> {
    const { topic, provider, extensionCalls, quota } = this.context
    const { extensionId } = key
    const waitMs = quota.authWaitMs(extensionId, 'ticket')
    const cause = quota.pauseMs(extensionId, 'auth') > 0 ? 'pause' : 'logins'
    if (waitMs > 0) return { type: 'deferred', cause, retryInMs: waitMs, failure: null }
    // The subscription is created over the socket, and still counts.
    quota.count(extensionId)
    return extensionCalls.make(key, 'auth', (token) => {
      quota.countAuth(extensionId)
      return provider.openEventSocket(token, { ...request, topic })
    })
  }
}
