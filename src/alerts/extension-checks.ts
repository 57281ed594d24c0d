import { NOT_RECEIVING } from '../db/not-receiving.ts'
import type { Gateway } from '../gateway.ts'
import { troubleOf } from '../upkeep/extension-trouble.ts'
import type { Condition, Check } from './condition.ts'

/** A missing subscription is made again within seconds, unless something is in the way. */
const NOT_RECEIVING_HOLD_MS = 60_000

export const extensionChecks = (gateway: Gateway): Check[] => [
  { names: ['extension_revoked'], find: () => findRevoked(gateway) },
  { names: ['extension_not_receiving'], find: () => findNotReceiving(gateway) },
]

async function findRevoked({ database }: Gateway): Promise<Condition[]> {
  const { rows } = await database.gate.execute(
    "SELECT tenant_id, extension_id FROM extensions WHERE status = 'revoked'",
  )
  return rows.map((row) => {
    const ids = { tenantId: String(row['tenant_id']), extensionId: String(row['extension_id']) }
    const name = nameOf(ids)
    return {
      alert: 'extension_revoked',
      subject: `${ids.tenantId}/${ids.extensionId}`,
      text: `${name} is revoked, so its messages fail: authorize it again with an invite link (sgw extensions invite --tenant ${ids.tenantId}).`,
      overText: `Resolved: ${name} is no longer revoked.`,
      detail: ids,
      holdMs: 0,
      since: null,
    }
  })
}

async function findNotReceiving(gateway: Gateway): Promise<Condition[]> {
  const { database, directory, clock } = gateway
  const { rows } = await database.gate.execute({ sql: NOT_RECEIVING, args: [clock.now()] })
  return Promise.all(
    rows.map(async (row) => {
      const ids = { tenantId: String(row['tenant_id']), extensionId: String(row['extension_id']) }
      const known = await directory.extension(ids.tenantId, ids.extensionId)
      const trouble = known === null ? null : troubleOf(gateway, known, clock.now())
      const name = nameOf(ids)
      return {
        alert: 'extension_not_receiving',
        subject: `${ids.tenantId}/${ids.extensionId}`,
        text: `${name} does not receive events, so its messages come up to 15 minutes late: ${trouble?.fix ?? 'see sgw doctor.'}`,
        overText: `Resolved: ${name} receives events again, or is no longer connected.`,
        detail: { ...ids, reason: trouble?.reason ?? null, fix: trouble?.fix ?? null },
        holdMs: NOT_RECEIVING_HOLD_MS,
        since: null,
      }
    }),
  )
}

const nameOf = ({ tenantId, extensionId }: { tenantId: string; extensionId: string }): string =>
  `Extension ${extensionId} of ${tenantId}`
