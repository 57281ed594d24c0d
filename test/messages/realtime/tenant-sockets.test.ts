import { expect, test } from 'bun:test'
import { TenantSockets } from '../../../src/messages/realtime/tenant-sockets.ts'

const MIB = 2 ** 20

/** A client that reads nothing: everything that is published to it waits, up to 256 KB. */
class Slow {
  bytes = 0
  isCut = false
  readonly data: { tenantId: string }

  constructor(tenantId: string) {
    this.data = { tenantId }
  }

  getBufferedAmount = (): number => this.bytes
  terminate = (): void => void (this.isCut = true)
}

test('at most 16 MiB wait for the sockets of a tenant; those that are furthest behind are cut, and no other', () => {
  const sockets = new TenantSockets<Slow>()
  const slow = Array.from({ length: 100 }, () => new Slow('tenant_a'))
  const healthy = new Slow('tenant_a')
  const stranger = new Slow('tenant_b')
  stranger.bytes = 256 * 1024
  for (const socket of [...slow, healthy, stranger]) sockets.add(socket)
  let peak = 0
  for (let frame = 0; frame < 200; frame++) {
    sockets.makeRoom('tenant_a', 2000)
    for (const socket of slow.filter(({ isCut }) => isCut)) sockets.delete(socket)
    for (const socket of slow.filter(({ isCut }) => !isCut))
      socket.bytes += 2000 + (frame === 0 ? slow.indexOf(socket) : 0)
    peak = Math.max(
      peak,
      slow.reduce((sum, { bytes, isCut }) => sum + (isCut ? 0 : bytes), 0),
    )
  }
  expect(peak).toBeWithin(8 * MIB, 16 * MIB)
  const cut = slow.filter(({ isCut }) => isCut)
  expect(cut.length).toBeWithin(50, 90)
  expect(cut).toEqual(slow.slice(-cut.length))
  expect([healthy.isCut, stranger.isCut]).toEqual([false, false])
})
