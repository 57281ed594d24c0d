import { expect, test } from 'bun:test'
import { systemResolver } from '../../src/net/outbound/system-resolver.ts'
import { AddressGuard } from '../../src/net/outbound/address-guard.ts'
import { WebhookPoster } from '../../src/net/outbound/webhook-poster.ts'
import { startDnsServer } from '../net/outbound/dns-server.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { startReceiver } from '../support/receiver.ts'
import { addSilentDestinations, deliverTo } from '../support/silent-names.ts'
import { type World, createWorld, until } from '../support/world.ts'

const SILENT_NAMES = 100

/** Makes webhooks use the DNS server and the clock. */
function useDnsServer(world: World, server: string, clock: ManualClock): void {
  const guard = new AddressGuard({
    production: false,
    allowCidrs: [],
    resolver: systemResolver({ servers: [server], searchPath: '/nonexistent' }),
    clock,
  })
  Object.assign(world.gateway, { guard, poster: new WebhookPoster({ guard, clock }) })
}

async function outcomes(world: World, tenantId: string): Promise<(string | null)[]> {
  const sql = 'SELECT outcome FROM webhook_attempts WHERE tenant_id = ?1'
  const { rows } = await world.gateway.database.gate.execute({ sql, args: [tenantId] })
  return rows.map((row) => (row['outcome'] === null ? null : String(row['outcome'])))
}

test("100 names whose DNS does not answer delay no other tenant's webhooks, sends, token refresh or encryption", async () => {
  await using dns = await startDnsServer({}, 'silence')
  await using receiver = startReceiver()
  await using world = await createWorld()
  const clock = manualClock()
  useDnsServer(world, dns.address, clock)
  const silent = await world.otherTenant('Silent')
  await addSilentDestinations(world, silent, SILENT_NAMES)
  await deliverTo(world, silent.tenantId, '1')
  // One tenant may look up 64 names at once.
  await until(() => new Set(dns.asked.map((query) => query.split(' ')[0])).size >= 64)

  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  const byName = receiver.url.replace('127.0.0.1', 'localhost')
  await world.call('POST', '/v1/triggers', { body: { callbackUrl: byName } })
  await world.control.injectSms({ text: 'Hi' })
  await receiver.received(2)
  expect((await world.untilStatus(await world.send()))['status']).toBe('sent')
  const [extension] = world.control.extensions()
  const key = { tenantId: world.tenantId, extensionId: extension?.extensionId ?? '' }
  expect(await world.gateway.tokens.refresh(key)).toMatchObject({ type: 'token' })
  const context = { tenantId: world.tenantId, row: '1', purpose: 'webhook_secret' } as const
  const sealed = await world.gateway.secrets.encrypt('secret', context)
  expect(await world.gateway.secrets.decrypt(sealed, context)).toBe('secret')

  const whileSilent = await outcomes(world, silent.tenantId)
  expect(whileSilent.length).toBeGreaterThanOrEqual(64)
  expect(new Set(whileSilent)).toEqual(new Set([null]))
  await until(async () => {
    clock.advance(1000)
    const now = await outcomes(world, silent.tenantId)
    return now.length === SILENT_NAMES && !now.includes(null)
  })
  expect(new Set(await outcomes(world, world.tenantId))).toEqual(new Set(['success']))
})
