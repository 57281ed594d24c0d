import type { Gateway } from '../../gateway.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import type { StoredSms } from '../../provider/provider.ts'
import type { CallResult } from '../../provider/session.ts'

export interface Look {
  /** Steady time at which the provider was asked. */
  at: number
  result: CallResult<StoredSms[]>
}

/**
 * Looks into the provider's message store, shared by extension. After a crash dozens of attempts have the same question,
 * and the provider allows few of them a minute. Who asks while a look is under way gets the next one: a look that began
 * before the question proves nothing.
 */
export class StoreLooks {
  readonly #running = new Map<string, Promise<Look>>()
  readonly #planned = new Map<string, { since: number; look: Promise<Look> }>()

  constructor(readonly gateway: Gateway) {}

  /** Outbound messages since then or earlier, from a look that begins after this call. */
  outbound(key: ExtensionKey, since: number): Promise<Look> {
    const name = `${key.tenantId}/${key.extensionId}`
    const planned = this.#planned.get(name)
    if (planned !== undefined) {
      planned.since = Math.min(planned.since, since)
      return planned.look
    }
    const look = this.#next(name, key)
    this.#planned.set(name, { since, look })
    return look
  }

  /** Begins when the present look has ended; without one, when all that were picked together have asked. */
  async #next(name: string, key: ExtensionKey): Promise<Look> {
    await this.#running.get(name)?.catch(() => undefined)
    const since = this.#planned.get(name)?.since ?? 0
    this.#planned.delete(name)
    const look = this.#look(key, since)
    this.#running.set(name, look)
    try {
      return await look
    } finally {
      if (this.#running.get(name) === look) this.#running.delete(name)
    }
  }

  async #look(key: ExtensionKey, since: number): Promise<Look> {
    const { session, provider, clock } = this.gateway
    const at = clock.steady()
    const result = await session.call(key, 'light', (token) =>
      provider.listMessages(token, { direction: 'Outbound', since }),
    )
    return { at, result }
  }
}
