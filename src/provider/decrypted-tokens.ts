import type { Secrets } from '../core/secrets.ts'
import type { ExtensionRow } from './directory.ts'
import { type ExtensionKey, nameOf } from './extension-rows.ts'
import { encryptionContext } from './stored-credentials.ts'

/**
 * Access tokens in plaintext. Each is decrypted once its row is stored, and kept as long as the row has the same encrypted token. A call with
 * a token that only this machine has would invalidate the stored pair, so losing the machine would end the authorization.
 */
export class DecryptedTokens {
  readonly #decrypted = new Map<string, { encrypted: string; accessToken: string }>()

  constructor(readonly context: { secrets: Secrets; untilStored(): Promise<void> }) {}

  /** The token of this row if it has been decrypted before, else null. */
  known(row: ExtensionRow): string | null {
    const known = this.#decrypted.get(nameOf(row))
    return known?.encrypted === row.accessToken ? known.accessToken : null
  }

  async decrypt(row: ExtensionRow): Promise<string> {
    const known = this.known(row)
    if (known !== null) return known
    await this.context.untilStored()
    const accessToken = await this.context.secrets.decrypt(row.accessToken, encryptionContext(row, 'rc_access'))
    this.keep(row, row.accessToken, accessToken)
    return accessToken
  }

  keep(key: ExtensionKey, encrypted: string, accessToken: string): void {
    this.#decrypted.set(nameOf(key), { encrypted, accessToken })
  }
}
