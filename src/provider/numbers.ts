import type { Clock } from '../core/clock.ts'
import { MESSAGE_ERRORS } from '../core/errors.ts'
import { TOKEN_FRESH_MS, UNKNOWN_NUMBER_TTL_MS } from '../core/limits.ts'
import type { Writer } from '../db/writer.ts'
import type { Directory, TenantEntry } from './directory.ts'
import { type ExtensionKey, replaceNumbers } from './extension-rows.ts'
import type { Provider } from './provider.ts'
import type { CallResult, Session } from './session.ts'

/** Who can send from a number. `failed` is final and carries the message-level error; `waiting` is not. */
export type Sender =
  | { type: 'ready'; extensionId: string }
  | { type: 'failed'; error: string }
  | { type: 'waiting'; retryInMs: number }

export interface NumbersContext {
  directory: Directory
  session: Session
  provider: Provider
  writer: Writer
  clock: Clock
}

const LOOK_AGAIN_MS = 5000
/** How long others of the tenant wait at a time while one looks. */
const LOOK_RUNS_MS = 1000

/** The SMS-capable numbers of the connected extensions. */
export class Numbers {
  readonly #looks = new Map<string, { at: number; result: Promise<boolean> }>()
  readonly #looking = new Set<string>()

  constructor(readonly context: NumbersContext) {}

  /** The extension that sends from this number; an unknown number costs one fresh look at the provider. */
  async senderOf(tenantId: string, from: string): Promise<Sender> {
    if (this.context.directory.isClosed(tenantId)) return { type: 'failed', error: MESSAGE_ERRORS.notConnected }
    const known = senderIn(await this.context.directory.tenant(tenantId), from, this.context.clock.now())
    if (known !== null) return known
    if (this.#looking.has(tenantId)) return { type: 'waiting', retryInMs: LOOK_RUNS_MS }
    if (!(await this.#look(tenantId))) return { type: 'waiting', retryInMs: LOOK_AGAIN_MS }
    const found = senderIn(await this.context.directory.tenant(tenantId), from, this.context.clock.now())
    return found ?? { type: 'failed', error: MESSAGE_ERRORS.unknownNumber(from) }
  }

  /** The same if it is known at this moment and could call without waiting for a token; else null. */
  readySender(tenantId: string, from: string): string | null {
    const { directory, clock } = this.context
    const entry = directory.isClosed(tenantId) ? undefined : directory.known(tenantId)
    if (entry?.status !== 'active') return null
    const row = entry.extensions.get(entry.numbers.get(from) ?? '')
    const isFresh = row?.status === 'active' && row.accessExpiresAt - clock.now() > TOKEN_FRESH_MS
    return isFresh ? row.extensionId : null
  }

  /** Reads the numbers of one extension from the provider and stores them. */
  async read(key: ExtensionKey): Promise<CallResult<string[]>> {
    const { session, provider, writer, clock, directory } = this.context
    const result = await session.call(key, 'light', (token) => provider.listSmsNumbers(token))
    if (result.type !== 'ok') return result
    await writer.write(replaceNumbers(key, result.value, clock.now()))
    directory.forget(key.tenantId)
    return result
  }

  /** Reads the numbers of all extensions of the tenant; true when that worked, now or a moment ago. */
  #look(tenantId: string): Promise<boolean> {
    const now = this.context.clock.monotonic()
    const last = this.#looks.get(tenantId)
    if (last !== undefined && now - last.at < UNKNOWN_NUMBER_TTL_MS) return last.result
    this.#looking.add(tenantId)
    const result = this.#readAll(tenantId).finally(() => this.#looking.delete(tenantId))
    this.#looks.set(tenantId, { at: now, result })
    void result.then((ok) => ok || this.#looks.delete(tenantId)).catch(() => this.#looks.delete(tenantId))
    return result
  }

  async #readAll(tenantId: string): Promise<boolean> {
    const { extensions } = await this.context.directory.tenant(tenantId)
    const live = [...extensions.values()].filter((row) => row.status !== 'revoked')
    const results = await Promise.all(live.map((row) => this.read({ tenantId, extensionId: row.extensionId })))
    return results.every((result) => result.type === 'ok' || result.type === 'gone')
  }
}

/** Null when the number is not known, but may be after a look. */
function senderIn(entry: TenantEntry, from: string, now: number): Sender | null {
  const extension = entry.extensions.get(entry.numbers.get(from) ?? '')
  if (extension?.status === 'active') return { type: 'ready', extensionId: extension.extensionId }
  if (extension?.status === 'revoked') return { type: 'failed', error: MESSAGE_ERRORS.revoked }
  if (extension !== undefined)
    return { type: 'waiting', retryInMs: Math.max(1000, (extension.nextRefreshAt ?? now) - now) }
  const connected = [...entry.extensions.values()].some((row) => row.status !== 'revoked')
  return connected ? null : { type: 'failed', error: MESSAGE_ERRORS.notConnected }
}
