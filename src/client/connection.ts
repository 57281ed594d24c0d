import { segment } from './requester.ts'
import { Resource } from './resource.ts'
import type { ConnectedExtension, ConnectionStatus, ExtensionHealth } from './connection-types.ts'

/** The tenant's connection to its provider account. */
export class Connection extends Resource {
  /** Whether the tenant is connected. */
  status(): Promise<ConnectionStatus> {
    return this.call('GET', '/rc/status')
  }

  /** The connected extensions and their numbers. */
  extensions(): Promise<ConnectedExtension[]> {
    return this.member('extensions', '/rc/extensions')
  }

  /** What is wrong with each connected extension, and what to do about it. */
  health(): Promise<ExtensionHealth[]> {
    return this.member('extensions', '/rc/extensions/health')
  }

  /** An address that connects an extension, once and within 5 minutes. Open it in a browser. */
  connectLink(): Promise<string> {
    return this.#link('connect')
  }

  /** An address to send to the owner of an extension, who connects it, once and within 7 days. */
  inviteLink(): Promise<string> {
    return this.#link('invite')
  }

  /** Disconnects the tenant: nothing is sent or received until an extension is connected again. */
  async disconnect(): Promise<void> {
    await this.call('POST', '/rc/disconnect')
  }

  /** Disconnects one extension; the others stay connected. */
  async disconnectExtension(extensionId: string): Promise<void> {
    await this.call('DELETE', `/rc/extensions/${segment(extensionId)}`)
  }

  async #link(kind: string): Promise<string> {
    const path = `/rc/${kind}-token`
    const { connectUrl } = await this.call<{ connectUrl: string }>('POST', path)
    return this.requester.baseUrl + connectUrl
  }
}
