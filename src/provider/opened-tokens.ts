import type { SealContext, Secrets } from '../core/secrets.ts'
import type { ExtensionRow } from './directory.ts'
import type { ExtensionKey } from './extension-rows.ts'

/** Access tokens in the clear: each is opened once, and kept as long as its row has the same one. */
export class OpenedTokens {
  readonly #opened = new Map<string, { sealed: string; accessToken: string }>()

  constructor(readonly secrets: Secrets) {}

  /** The one of this row, if it was opened before. */
  known(row: ExtensionRow): string | null {
    const opened = this.#opened.get(nameOf(row))
    return opened?.sealed === row.accessToken ? opened.accessToken : null
  }

  async open(row: ExtensionRow): Promise<string> {
    const known = this.known(row)
    if (known !== null) return known
    const accessToken = await this.secrets.open(row.accessToken, sealContext(row, 'rc_access'))
    this.keep(row, row.accessToken, accessToken)
    return accessToken
  }

  keep(key: ExtensionKey, sealed: string, accessToken: string): void {
    this.#opened.set(nameOf(key), { sealed, accessToken })
  }
}

/** An extension's name among all. */
export const nameOf = (key: ExtensionKey): string => `${key.tenantId}/${key.extensionId}`

/** What a token is sealed for. */
export const sealContext = (key: ExtensionKey, purpose: SealContext['purpose']): SealContext => ({
  tenantId: key.tenantId,
  row: key.extensionId,
  purpose,
})
