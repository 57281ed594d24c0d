import { WS_TENANT_BACKLOG_BYTES } from '../../core/limits.ts'

/** The part of a socket that `TenantSockets` needs. */
export interface TenantSocket {
  data: { tenantId: string }
  /** Bytes that wait in the gateway because the client does not read. */
  getBufferedAmount(): number
  terminate(): void
}

/** The authenticated sockets of a tenant. */
interface Holder<Socket> {
  sockets: Set<Socket>
  /** Bytes published since the backlogs were last measured: the backlogs can have grown by this much. */
  unmeasured: number
}

/**
 * The authenticated sockets by tenant. Bounds the bytes that wait for all sockets of a tenant together; Bun bounds those of one
 * socket. The sockets that are furthest behind are cut.
 */
export class TenantSockets<Socket extends TenantSocket> {
  readonly #tenants = new Map<string, Holder<Socket>>()

  add(socket: Socket): void {
    const { tenantId } = socket.data
    const holder = this.#tenants.get(tenantId) ?? { sockets: new Set(), unmeasured: 0 }
    holder.sockets.add(socket)
    this.#tenants.set(tenantId, holder)
  }

  delete(socket: Socket): void {
    const { tenantId } = socket.data
    const holder = this.#tenants.get(tenantId)
    holder?.sockets.delete(socket)
    if (holder?.sockets.size === 0) this.#tenants.delete(tenantId)
  }

  of(tenantId: string): ReadonlySet<Socket> {
    return this.#tenants.get(tenantId)?.sockets ?? new Set()
  }

  /** Call it before a frame of `bytes` is published to sockets of the tenant. */
  makeRoom(tenantId: string, bytes: number): void {
    const holder = this.#tenants.get(tenantId)
    if (holder === undefined) return
    holder.unmeasured += bytes * holder.sockets.size
    if (holder.unmeasured <= WS_TENANT_BACKLOG_BYTES / 2) return
    holder.unmeasured = 0
    cutBehind([...holder.sockets])
  }
}

/** Cuts the sockets that are furthest behind until less than half the bound waits for the others. */
function cutBehind(sockets: readonly TenantSocket[]): void {
  const backlogs = sockets
    .map((socket) => ({ socket, bytes: socket.getBufferedAmount() }))
    .filter(({ bytes }) => bytes > 0)
    .toSorted((one, other) => other.bytes - one.bytes)
  let waiting = backlogs.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { socket, bytes } of backlogs) {
    if (waiting <= WS_TENANT_BACKLOG_BYTES / 2) return
    waiting -= bytes
    socket.terminate()
  }
}
