import type { Page } from 'playwright-core'
import type { AllOverview, TenantFigures } from '../../src/console/page/all/all-overview.ts'
import type { Alert } from '../../src/console/page/state/alert.ts'
import type { TenantPage } from '../../src/console/page/state/operator.ts'

/** A tenant of `GET /v1/operator/overview`, and what `GET /v1/operator/tenants` says of it. */
export interface ShownTenant extends TenantFigures {
  apps: number
  extensions: number
}

const HOURS = 24
/** How busy a business is, by the hour. */
const DAY: readonly number[] = [0, 0, 0, 0, 0, 1, 3, 6, 8, 9, 8, 7, 8, 9, 8, 7, 6, 4, 2, 1, 1, 0, 0, 0]
const DAY_SUM = DAY.reduce((sum, value) => sum + value, 0)

/** A tenant without trouble, with so many texts. */
export function tenantOf(
  tenantId: string,
  name: string,
  texts: number,
  change: Partial<ShownTenant> = {},
): ShownTenant {
  const received = Math.round(texts / 3)
  const figures = { sent: texts - received, received, failed: 0, undelivered: 0, waiting: 0, neverArrived: 0 }
  const buckets = Array.from({ length: HOURS }, (_, hour) => Math.round((texts * (DAY[hour] ?? 0)) / DAY_SUM))
  return { tenantId, name, status: 'active', worst: null, ...figures, buckets, apps: 1, extensions: 1, ...change }
}

/** An alert of a tenant, or of the gateway itself. */
function alertOf(alert: string, subject: string, change: Partial<Alert> & Pick<Alert, 'since'>): Alert {
  const { what = `Something is wrong with ${subject}`, fix = 'sgw doctor says why.' } = change
  return { alert, subject, text: `${what}. ${fix}`, what, fix, detail: {}, ...change }
}

export interface ShownAll {
  tenants: readonly ShownTenant[]
  alerts: readonly Alert[]
}

/** The incident of the design's picture: seven tenants, two of them in trouble, one suspended, one not connected. `ownId` is one that exists. */
export function anIncident(now: number, ownId: string): ShownAll {
  const ago = (minutes: number): string => new Date(now - minutes * 60_000).toISOString()
  const harbor = { tenantId: 'tenant_1', tenantName: 'Harbor Clinic' }
  const detail = {
    tenantId: 'tenant_1',
    extensionId: '629890016',
    extensionNumber: '102',
    reason: 'Its authorization has ended',
  }
  const alerts = [
    alertOf('extension_revoked', '629890016', { since: ago(8), ...harbor, detail }),
    alertOf('webhook_failing', 'app_1', {
      since: ago(88),
      ...harbor,
      detail: { tenantId: 'tenant_1', appId: 'app_1' },
    }),
    alertOf('queue_old', 'gateway', { since: ago(12), tenantId: 'tenant_2', tenantName: 'Pine Street Physiotherapy' }),
    alertOf('backup_behind', 'gateway', {
      what: 'The backup of /data/sgw.db has been behind for 10800 s',
      since: ago(180),
      detail: { lagSeconds: 10_800 },
      mutedUntil: ago(-214),
      mutedBy: 'session',
    }),
  ]
  const tenants = [
    tenantOf('tenant_1', 'Harbor Clinic', 1592, {
      failed: 14,
      waiting: 17,
      neverArrived: 9,
      worst: alerts[0] ?? null,
      apps: 2,
    }),
    tenantOf('tenant_2', 'Pine Street Physiotherapy', 6804, {
      failed: 3,
      waiting: 41,
      worst: alerts[2] ?? null,
      apps: 4,
    }),
    tenantOf('tenant_4', 'Bäckerei Müller & Söhne am Alten Markt', 388, { failed: 1, apps: 2 }),
    tenantOf('tenant_5', 'مطعم النور', 204),
    tenantOf(ownId, 'Acme', 12),
    tenantOf('tenant_3', 'Old Town Garage', 0, { status: 'suspended', waiting: 2 }),
    tenantOf('tenant_7', 'First', 0, { extensions: 0 }),
  ]
  return { tenants, alerts }
}

const PAGE = 100

/** Answers what the page of all tenants reads. `shown` is asked each time. */
export async function routeAll(page: Page, shown: () => ShownAll): Promise<void> {
  await page.route('**/v1/operator/overview?*', (route) => {
    const { tenants, alerts } = shown()
    const now = new Date().toISOString()
    const json: AllOverview = { from: now, to: now, total: tenants.length, alerts: [...alerts], tenants: [...tenants] }
    return route.fulfill({ json })
  })
  await page.route('**/v1/operator/tenants?*', (route) => {
    const query = new URL(route.request().url()).searchParams
    const [number, limit] = [Number(query.get('page') ?? 1), Number(query.get('limit') ?? PAGE)]
    const { tenants } = shown()
    const json: TenantPage = {
      tenants: tenants
        .slice((number - 1) * limit, number * limit)
        .map(({ tenantId, name, status, apps, extensions }) => ({
          tenantId,
          name,
          status,
          apps,
          extensions,
          createdAt: '2026-11-01T00:00:00.000Z',
        })),
      total: tenants.length,
      page: number,
      limit,
    }
    return route.fulfill({ json })
  })
}
