import type { ExtensionRow } from '../../provider/directory.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import type { ProviderFailure } from '../../provider/provider.ts'

/** How the provider has answered when it was last asked for the consents of an account. */
export interface ConsentsAnswer {
  /** The extension that reads them, and has their events; null if they are refused. */
  reader: ExtensionKey | null
  failure: ProviderFailure | null
  /** How many consents were read, and how many besides that name no number. */
  read: number
  leftOut: number
}

/** What is known of the consents of each connected account since the start. */
export class AccountConsents {
  /** Called when an event has said that a consent of the extension's account has changed. */
  changed: (key: ExtensionKey) => void = () => undefined
  /** Called when another extension reads them than before. */
  readerFound: (key: ExtensionKey) => void = () => undefined
  readonly #answers = new Map<string, ConsentsAnswer>()

  note(accountId: string, answer: ConsentsAnswer): void {
    const before = this.#answers.get(accountId)?.reader ?? null
    this.#answers.set(accountId, answer)
    const { reader } = answer
    if (reader !== null && (before === null || nameOf(before) !== nameOf(reader))) this.readerFound(reader)
  }

  /** Forgets accounts that have no extension any more. */
  keepOnly(accounts: ReadonlyMap<string, unknown>): void {
    for (const accountId of this.#answers.keys()) if (!accounts.has(accountId)) this.#answers.delete(accountId)
  }

  answers(): ConsentsAnswer[] {
    return [...this.#answers.values()]
  }

  /** Whether the extension is the one that reads them; null while the account was not asked. */
  isReader(row: ExtensionRow): boolean | null {
    const answer = this.#answers.get(row.accountId)
    if (answer === undefined) return null
    return answer.reader !== null && nameOf(answer.reader) === nameOf(row)
  }
}
