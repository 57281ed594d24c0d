import { MAX_UNAUTHENTICATED_SOCKETS, MAX_UNAUTHENTICATED_SOCKETS_PER_ADDRESS } from '../core/limits.ts'

/**
 * Sockets that wait to authenticate, oldest first: 20 of an address, 1,000 in all. A new one above that replaces the
 * oldest, so that connections which never say anything cannot lock out a client that does.
 */
export class WaitingSockets<Socket> {
  readonly #addresses = new Map<Socket, string>()
  readonly #byAddress = new Map<string, Set<Socket>>()

  /** Answers the socket that must go, if one must. */
  add(socket: Socket, address: string): Socket | null {
    const ofAddress = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, ofAddress.add(socket))
    this.#addresses.set(socket, address)
    if (ofAddress.size > MAX_UNAUTHENTICATED_SOCKETS_PER_ADDRESS) return first(ofAddress)
    return this.#addresses.size > MAX_UNAUTHENTICATED_SOCKETS ? first(this.#addresses.keys()) : null
  }

  delete(socket: Socket): void {
    const address = this.#addresses.get(socket)
    if (address === undefined) return
    this.#addresses.delete(socket)
    const ofAddress = this.#byAddress.get(address)
    ofAddress?.delete(socket)
    if (ofAddress?.size === 0) this.#byAddress.delete(address)
  }
}

function first<Item>(items: Iterable<Item>): Item | null {
  for (const item of items) return item
  return null
}
