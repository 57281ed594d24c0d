import { inArray } from 'drizzle-orm'
import { isoTime } from '../../core/clock.ts'
import { tenants } from '../../db/schema/tenants.ts'
import type { FiringAlert, Mute } from '../../core/firing-alert.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { subjectOf, textOf } from '../conditions/condition.ts'
import type { Alert, Alerts } from '../schemas.ts'
import { muteOf, untilText } from './mutes.ts'

/** What needs attention now. Checks first, so that the doctor says the same. */
export async function listAlerts({ alerts, database }: Gateway): Promise<Alerts> {
  // If that fails, the last checks count.
  await alerts.check().catch(() => undefined)
  const names = await tenantNames(database, alerts.firing)
  return { alerts: alerts.firing.map((each) => alertItem(each, names, muteOf(alerts.mutes, each.alert, each))) }
}

/** Omits names while the database cannot be read, which is an alert itself. */
async function tenantNames({ orm }: Gateway['database'], firing: readonly FiringAlert[]): Promise<Map<string, string>> {
  const ids = firing.map(({ detail }) => detail['tenantId']).filter((id) => typeof id === 'string')
  if (ids.length === 0) return new Map()
  const { id, name } = tenants
  const rows = await orm
    .select({ id, name })
    .from(tenants)
    .where(inArray(id, [...new Set(ids)]))
    .catch(() => [])
  return new Map(rows.map((row) => [row.id, row.name]))
}

function alertItem(firing: FiringAlert, names: ReadonlyMap<string, string>, mute: Mute | undefined): Alert {
  const { alert, what, fix, since, detail } = firing
  const { tenantId } = detail
  const tenantName = typeof tenantId === 'string' ? names.get(tenantId) : undefined
  return {
    alert,
    subject: subjectOf(firing),
    text: textOf(firing),
    what,
    fix,
    since: isoTime(since),
    ...(typeof tenantId === 'string' ? { tenantId } : {}),
    ...(tenantName === undefined ? {} : { tenantName }),
    detail,
    ...(mute === undefined ? {} : { mutedUntil: untilText(mute), mutedBy: mute.by }),
  }
}
