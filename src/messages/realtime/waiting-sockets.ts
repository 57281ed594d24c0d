import { MAX_UNAUTHENTICATED_SOCKETS, MAX_UNAUTHENTICATED_SOCKETS_PER_ADDRESS } from '../../core/limits.ts'

/**
 * Sockets that have not authenticated yet, oldest first: at most 20 per address and 1,000 in total. Above that a new socket
 * replaces the oldest, so that silent connections cannot lock out other clients.
 */
export class WaitingSockets<Socket> {
  readonly #addresses = new Map<Socket, string>()
  readonly #byAddress = new Map<string, Set<Socket>>()

  /** Adds a socket; returns the one that it replaces, or null. */
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
