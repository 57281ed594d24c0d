import type { ExtensionRow } from '../../provider/directory.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import type { ProviderFailure } from '../../provider/provider.ts'

/** The provider's last answer about the consents of an account. */
export interface ConsentsAnswer {
  /** The extension that reads them and gets their events; null if they are refused. */
  reader: ExtensionKey | null
  failure: ProviderFailure | null
  /** How many consents were read, and how many others name no number. */
  read: number
  leftOut: number
}

/** The list of an account could not be read to its end, and no try since then could. */
export interface ConsentsFailure {
  accountId: string
  /** Epoch milliseconds of the first failure. */
  since: number
  /** The last one; null if the provider was not asked. */
  failure: ProviderFailure | null
}

/** What the gateway has learned about the consents of each connected account since its start. */
export class AccountConsents {
  /** Called when an event has reported a changed consent of the extension's account. */
  changed: (key: ExtensionKey) => void = () => undefined
  /** Called when a different extension starts to read them. */
  readerFound: (key: ExtensionKey) => void = () => undefined
  /** When the provider has refused their events to an extension, monotonic, and to which connection of it. */
  readonly eventRefusals = new Map<string, { at: number; connectedAt: number }>()
  readonly #answers = new Map<string, ConsentsAnswer>()
  readonly #failures = new Map<string, ConsentsFailure>()
  readonly #openPages = new Set<Set<string>>()
  readonly #beingErased = new Set<string>()

  note(accountId: string, answer: ConsentsAnswer): void {
    const before = this.#answers.get(accountId)?.reader ?? null
    this.#answers.set(accountId, answer)
    this.#failures.delete(accountId)
    const { reader } = answer
    if (reader !== null && (before === null || nameOf(before) !== nameOf(reader))) this.readerFound(reader)
  }

  /** `now`: epoch milliseconds. */
  noteFailure(accountId: string, failure: ProviderFailure | null, now: number): void {
    const since = this.#failures.get(accountId)?.since ?? now
    this.#failures.set(accountId, { accountId, since, failure })
  }

  /** Forgets accounts that no longer have an extension. */
  keepOnly(accounts: ReadonlyMap<string, unknown>): void {
    for (const known of [this.#answers, this.#failures])
      for (const accountId of known.keys()) if (!accounts.has(accountId)) known.delete(accountId)
  }

  answers(): ConsentsAnswer[] {
    return [...this.#answers.values()]
  }

  failures(): ConsentsFailure[] {
    return [...this.#failures.values()]
  }

  /**
   * Call it before the provider is asked for a page. Returns the numbers that were erased since then: what the page says about them is not
   * news.
   */
  openPage(): { erased: ReadonlySet<string>; close(): void } {
    const erased = new Set(this.#beingErased)
    this.#openPages.add(erased)
    return { erased, close: () => void this.#openPages.delete(erased) }
  }

  /** Keeps the pages that are being read from storing a number during and after its erasure. */
  erasing(phone: string): Disposable {
    this.#beingErased.add(phone)
    for (const erased of this.#openPages) erased.add(phone)
    return { [Symbol.dispose]: () => void this.#beingErased.delete(phone) }
  }

  /** Whether the extension is the one that reads them; null until the account has been asked. */
  isReader(row: ExtensionRow): boolean | null {
    const answer = this.#answers.get(row.accountId)
    if (answer === undefined) return null
    return answer.reader !== null && nameOf(answer.reader) === nameOf(row)
  }
}
