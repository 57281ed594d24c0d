import type { Overview } from '../client/usage-types.ts'
import { failureOf as reasonOfError } from '../core/message-failure.ts'
import { printable } from '../core/printable.ts'
import { traitsOf } from '../operator/conditions/traits.ts'
import type { Alerts } from '../operator/schemas.ts'
import type { StatusReport } from '../operator/status.ts'
import { alertLines } from './alert-commands.ts'
import { ask } from './ask.ts'
import type { CliContext } from './context.ts'
import { fixesOf } from './extension-health.ts'
import { print, sayNext, symbolOf } from './print.ts'
import { reasonOf, refusalOf, shortTime } from './reasons.ts'
import { lines } from './table.ts'
import { type TenantNames, readTenantNames, withNames } from './tenant-names.ts'
import { actingApps } from './tenant-scope.ts'
import { hanging } from './wrap.ts'

/** A person sees the failed messages of this many tenants, those with the most. */
const MAX_TENANTS = 10
/** Alerts with lines of their own, which appear before the alert fires. */
const HAS_OWN_LINES: readonly string[] = ['webhook_failing', 'webhooks_interrupted']

/**
 * Runs `sgw status`. A person also reads which alerts fire, and their effects: for each tenant which messages failed, why others wait, and
 * which webhooks fail.
 */
export async function showStatus(context: CliContext): Promise<void> {
  const report = (await ask(context, { method: 'GET', path: '/v1/operator/status' })) as StatusReport
  if (context.json) return print(context, report)
  const names = await readTenantNames(context)
  context.stdout(lines(context, fieldsOf(report, context.config.backupAddress)))
  if (report.storage !== null && !report.running)
    context.stdout(hanging(context, `${symbolOf(context, 'fail')} `, printable(report.storage)))
  if (report.running) await showAlerts(context, names)
  // An alert reports the others.
  if (report.unconnectedJwt !== null && ['waits', 'spent'].includes(report.unconnectedJwt.kind))
    context.stdout(unconnectedJwtOf(context, names, report.unconnectedJwt))
  for (const failures of report.failed.slice(0, MAX_TENANTS))
    context.stdout(failedOf(context, failures, names, await fixesOf(context, failures.tenantId, failures.errors)))
  if (report.failed.length > MAX_TENANTS)
    context.stdout(
      `    and of ${counted(report.failed.length - MAX_TENANTS, 'more tenant', 'more tenants')}: sgw status --json\n`,
    )
  if (report.blocked !== null)
    context.stdout(hanging(context, `${symbolOf(context, 'warn')} `, printable(report.blocked)))
  if (report.interruptedWebhooks !== null) context.stdout(interruptedOf(context, report.interruptedWebhooks))
  if (report.running) await showWork(context, names)
}

/** The firing alerts, causes before effects such as a waiting message. */
async function showAlerts(context: CliContext, names: TenantNames): Promise<void> {
  const { alerts } = (await ask(context, { method: 'GET', path: '/v1/operator/alerts' })) as Alerts
  const isEffect = ({ alert }: Alerts['alerts'][number]): number => Number(traitsOf(alert).isEffect ?? false)
  for (const alert of alerts.toSorted((one, other) => isEffect(one) - isEffect(other)))
    if (!HAS_OWN_LINES.includes(alert.alert)) context.stdout(alertLines(context, names, alert))
}

/** Why messages of each tenant wait, and which webhooks fail. */
async function showWork(context: CliContext, names: TenantNames): Promise<void> {
  for (const { tenantId, appId } of await actingApps(context)) {
    const overview = (await ask(context, { method: 'GET', path: '/v1/overview', appId })) as Overview
    for (const { count, since, ...waiting } of overview.waiting) {
      const messages = counted(count, 'message has waited', 'messages have waited')
      const symbol = symbolOf(context, waiting.reason === 'scheduled' ? 'ok' : 'warn')
      const head = `${symbol} ${messages} since ${shortTime(since)}, ${printable(withNames(names, tenantId))}`
      context.stdout(`${head}\n${below(context, reasonOf(waiting, count))}`)
    }
    if (overview.waiting.length > 0)
      sayNext(context, '    Which: sgw messages list --status queued, and --status sending')
    for (const destination of overview.destinations)
      context.stdout(failureOf(context, destination, names.get(tenantId)))
  }
}

/** Why RC_JWT has connected no extension, and what to do or when it is presented again. */
export const unconnectedJwtOf = (
  context: CliContext,
  names: TenantNames,
  { kind, text }: NonNullable<StatusReport['unconnectedJwt']>,
): string =>
  `${symbolOf(context, 'warn')} ${/^RC_JWT_FILE\b/.exec(text)?.[0] ?? 'RC_JWT'} ${kind === 'waits' ? 'waits' : 'is not connected'}\n${below(context, withNames(names, text))}`

/** Lines about a tenant's messages that failed: why, and the commands that list them and, if any can be, send them again. */
function failedOf(
  context: CliContext,
  failures: StatusReport['failed'][number],
  names: TenantNames,
  fixes: readonly string[],
): string {
  const { tenantId, tenantStatus, count, since, lastAt, errors, canResend } = failures
  const again = fixes.length === 0 ? 'List them, and send them again' : 'Then list them, and send them again'
  const next = canResend ? again : `${whyNot(failures)} List them`
  const lackNumber = errors.some(isUnknownNumber)
  // `since` is the start of a half hour, not the time of a failure.
  const when = count === 1 ? `at ${shortTime(lastAt)}` : `since ${shortTime(since)}, the last at ${shortTime(lastAt)}`
  return [
    `${symbolOf(context, 'warn')} ${counted(count, 'message', 'messages')} failed ${when}, ${printable(withNames(names, tenantId))}\n`,
    ...errors.map(({ error, count: times }) => below(context, `${times} ${error}`)),
    ...fixes.map((fix) => below(context, fix)),
    below(context, `${next}:`),
    below(context, `sgw messages list --status failed --tenant ${tenantId}`),
    ...(canResend ? [below(context, `sgw messages resend --failed-since 24h --tenant ${tenantId}`)] : []),
    ...(lackNumber && tenantStatus === 'active'
      ? [below(context, FROM_ANOTHER), below(context, fromAnother(tenantId))]
      : []),
  ].join('')
}

const isUnknownNumber = ({ error }: { error: string }): boolean => reasonOfError(error) === 'unknown_number'

const FROM_ANOTHER =
  'No connected extension of the tenant has this number (sgw extensions list shows those that it has). To send from another one:'
const fromAnother = (tenantId: string): string =>
  `sgw messages resend --failed-since 24h --failure unknown_number --from NUMBER --tenant ${tenantId}`

/** Lines about webhooks that a crash or a takeover interrupted, and the command that posts them again. */
function interruptedOf(
  context: CliContext,
  { count, since }: NonNullable<StatusReport['interruptedWebhooks']>,
): string {
  const webhooks = counted(count, 'webhook was', 'webhooks were')
  return [
    `${symbolOf(context, 'warn')} ${webhooks} interrupted since ${shortTime(since)}, and may not have arrived\n`,
    below(context, 'Post again what failed since then:'),
    below(context, `sgw webhooks recover --since ${since}`),
  ].join('')
}

const whyNot = ({ tenantStatus, errors }: StatusReport['failed'][number]): string =>
  tenantStatus === 'active'
    ? errors.some(isUnknownNumber)
      ? 'None can be sent again as it is.'
      : 'None is left to send again.'
    : `The tenant is ${tenantStatus === 'inactive' ? 'deactivated' : tenantStatus}, so none can be sent again.`

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** The lines below the first one. */
const below = (context: CliContext, text: string): string => hanging(context, '    ', printable(text))

/** Two lines about a destination whose webhooks are failing, otherwise nothing. */
function failureOf(context: CliContext, destination: Overview['destinations'][number], tenant?: string): string {
  const { kind, appId, triggerId, failingSince, lastOutcome, lastStatusCode } = destination
  if (failingSince === null) return ''
  const id = appId ?? triggerId ?? ''
  const outcome = [lastOutcome, lastStatusCode].filter((word) => word !== null && word !== undefined).join(' ')
  const head = `${symbolOf(context, 'warn')} webhooks of ${id} have failed since ${shortTime(failingSince)}${tenant === undefined ? '' : `, ${printable(tenant)}`}`
  const refusal = refusalOf({ statusCode: lastStatusCode, appId })
  return `${head}\n${below(context, `${outcome}: sgw webhooks list --${kind} ${id}`)}${refusal === '' ? '' : below(context, refusal)}`
}

function fieldsOf(report: StatusReport, backupAddress: string | null) {
  const { running, version, schema, queue, extensions, subscriptions, backup } = report
  const counts = (record: Readonly<Record<string, unknown>>): string =>
    Object.entries(record)
      .filter(([, value]) => value !== null && value !== 0)
      .map(([name, value]) => `${String(value)} ${name}`)
      .join(', ')
  const { active, pending, earliestExpiry } = subscriptions
  return {
    server: running ? 'running' : 'not running',
    version,
    schema,
    queue: queueOf(queue),
    extensions: `${counts(extensions) || 'none'}${jwtOf(report)}`,
    subscriptions: `${active} active, ${pending} pending${earliestExpiry === null ? '' : `, until ${shortTime(earliestExpiry)}`}`,
    backup: backup.litestream
      ? `Litestream, ${backup.lagMs ?? 'unknown'} ms behind`
      : backupAddress === null || running
        ? 'off'
        : `at ${backupAddress}; check it: sgw restore --check`,
    ...(report.ha === null
      ? {}
      : {
          lease: `held by this gateway, ${report.ha.holder}, with epoch ${report.ha.epoch}, renewed ${report.ha.leaseAgeMs} ms ago`,
        }),
    ...(backup.restoredAt === null ? {} : { restored: shortTime(backup.restoredAt) }),
    ...(backup.quarantined === 0 ? {} : { quarantined: String(backup.quarantined) }),
  }
}

/** `, JWT until 2026-12-11` of the first that ends; an older server does not say how many there are. */
function jwtOf({ jwts, earliestJwtEnd }: StatusReport): string {
  if (earliestJwtEnd !== null) return `, JWT until ${earliestJwtEnd.slice(0, 10)}`
  return jwts > 0 ? ', JWT: no end' : ''
}

/** The name of each kind of work, singular and plural. */
const WORK: Readonly<Record<string, readonly [one: string, many: string]>> = {
  send: ['to send', 'to send'],
  schedule: ['scheduled', 'scheduled'],
  lookup: ['lookup', 'lookups'],
  webhook: ['webhook', 'webhooks'],
  webhook_retry: ['webhook retry', 'webhook retries'],
  back_fill: ['back-fill', 'back-fills'],
  openAttempts: ['open attempt', 'open attempts'],
}

/** `3 to send (oldest of 11-24 13:00:05), 500 scheduled until 12-24 18:00:00, 1 webhook retry` */
function queueOf({ oldestQueuedAt, scheduledUntil, ...work }: StatusReport['queue']): string {
  const more: Readonly<Record<string, string>> = {
    send: typeof oldestQueuedAt === 'string' ? ` (oldest of ${shortTime(oldestQueuedAt)})` : '',
    schedule: typeof scheduledUntil === 'string' ? ` until ${shortTime(scheduledUntil)}` : '',
  }
  const parts = Object.entries(work).map(([kind, count]) => {
    const [one, many] = WORK[kind] ?? [kind, kind]
    return Number(count) === 0 ? '' : `${counted(Number(count), one, many)}${more[kind] ?? ''}`
  })
  return parts.filter((part) => part !== '').join(', ') || 'empty'
}
