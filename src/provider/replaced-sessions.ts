import type { Clock } from '../core/clock.ts'
import type { Secrets } from '../core/secrets.ts'
import type { ExtensionRow } from './directory.ts'
import { type ExtensionKey, nameOf } from './extension-rows.ts'
import type { Provider } from './provider.ts'
import type { Quota } from './quota.ts'
import { sessionToken } from './stored-credentials.ts'

export interface SessionsContext {
  provider: Provider
  quota: Quota
  secrets: Secrets
  clock: Clock
}

/**
 * Sessions that a newer authorization of their extension has replaced, and that a socket may still need. Only this process knows them: after a
 * crash, a session ends when its tokens expire, or when the user has more than five.
 */
export class ReplacedSessions {
  readonly #rows = new Map<string, ExtensionRow[]>()

  constructor(readonly context: SessionsContext) {}

  /** Call it with the previous row. */
  note(row: ExtensionRow): void {
    const name = nameOf(row)
    this.#rows.set(name, [...(this.#rows.get(name) ?? []), row])
  }

  /** Ends the replaced sessions of an extension. */
  async end(key: ExtensionKey): Promise<void> {
    const rows = this.#rows.get(nameOf(key)) ?? []
    this.#rows.delete(nameOf(key))
    // A session whose tokens cannot be decrypted ends when they expire.
    await Promise.allSettled(rows.map((row) => endStoredSession(this.context, row)))
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#rows.values()].flatMap((rows) => rows.slice(0, 1)).map((row) => this.end(row)))
  }
}

/** Ends the session of a stored authorization, unless it has already ended. Rejects if its tokens cannot be decrypted. */
export async function endStoredSession(context: SessionsContext, row: ExtensionRow): Promise<void> {
  const token = await sessionToken(context.secrets, row, context.clock.now())
  if (token !== null) await endSession(context, row.extensionId, token)
}

/** Ends a session at the provider by one of its tokens. The provider allows five, and ends the oldest without notice. */
export async function endSession(
  { quota, provider }: SessionsContext,
  extensionId: string,
  token: string,
): Promise<void> {
  quota.countAuth(extensionId)
  await provider.revoke(token)
}
