import type { Command } from 'commander'
import { isoTime, systemClock } from '../core/clock.ts'
import { parseDateTime } from '../core/date-time.ts'
import { parseDuration } from '../core/duration.ts'
import { MAX_BODY_ENTRIES, MAX_RESENT } from '../core/limits.ts'
import { EXIT } from '../core/start-error.ts'
import type { ResendAnswer } from '../operator/resend-schemas.ts'
import type { TenantList } from '../operator/schemas.ts'
import { ask } from './ask.ts'
import { confirm } from './confirm.ts'
import { type CliContext, CliError } from './context.ts'
import { print, sayNext } from './print.ts'

export interface ResendOptions {
  failedSince?: string
  failedUntil?: string
  failure?: string
  tenant?: string
  app?: string
  from?: string
  maxAge?: string
  yes?: boolean
  dryRun?: boolean
}

/** Sends the named messages again, or those of a tenant that failed. Counts them first, so that nobody confirms something impossible. */
export async function resend(
  context: CliContext,
  messageIds: readonly string[],
  options: ResendOptions,
  command: Command,
): Promise<void> {
  if (messageIds.length === 0 && options.failedSince === undefined)
    command.error("error: required argument 'message' or option '--failed-since <time>' not specified", { exitCode: 2 })
  const filters = filtersOf(options)
  const tenantId = options.tenant ?? (await onlyTenant(context))
  const wishes = idsOf(messageIds).map((ids) => ({ ...filters, tenantId, ...ids }))
  const found = await askFor(context, wishes, true)
  if (options.dryRun === true) return print(context, found)
  if (found.resent > 0) {
    context.stderr(leftOf(found))
    const messages = found.resent === 1 ? '1 new message' : `${found.resent} new messages`
    const line = ['sgw', 'messages', 'resend', ...messageIds, ...wordsOf({ ...options, tenant: tenantId }, command)]
    await confirm(context, options.yes ?? false, `This sends ${messages} for ${tenantId}. Continue?`, line)
  }
  const done = found.resent === 0 ? found : await askFor(context, wishes, false)
  print(context, done)
  if (done.resent >= MAX_RESENT) sayNext(context, 'There may be more: run the command again')
  if (done.refused > 0) throw new CliError(context.json ? '' : REFUSED)
}

const REFUSED =
  'Refused messages cannot be sent: their app or tenant is not active, their files are gone, or no connected extension has their number (--from NUMBER sends them from another one)'

const filtersOf = ({ failedSince, failedUntil, maxAge, app, failure, from }: ResendOptions) => ({
  failedSince: timeOf('--failed-since', failedSince),
  failedUntil: timeOf('--failed-until', failedUntil),
  maxAgeMinutes: maxAge === undefined ? undefined : minutesOf(maxAge),
  appId: app,
  failure,
  from,
})

function timeOf(option: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const ago = parseDuration(text)
  const at = ago === null ? parseDateTime(text) : systemClock.now() - ago
  if (at !== null) return isoTime(at)
  throw new CliError(
    `${option} ${text}: give a date-time with offset (2026-11-24T10:00:00Z), or 2h for two hours ago`,
    EXIT.usage,
  )
}

function minutesOf(text: string): number {
  const minutes = Math.floor((parseDuration(text) ?? 0) / 60_000)
  if (minutes > 0) return minutes
  throw new CliError(`--max-age ${text}: give a time of a minute or more, such as 60m or 2h`, EXIT.usage)
}

async function onlyTenant(context: CliContext): Promise<string> {
  const request = { method: 'GET', path: '/v1/operator/tenants?limit=2', needs: 'server' } as const
  const [tenant, another] = ((await ask(context, request)) as TenantList).tenants
  if (tenant !== undefined && another === undefined) return tenant.tenantId
  throw new CliError('Name the tenant with --tenant TENANT: sgw tenant list shows them', EXIT.usage)
}

/** Per request: a long list of ids takes several. */
function idsOf(messageIds: readonly string[]): { messageIds?: string[] }[] {
  if (messageIds.length === 0) return [{}]
  const count = Math.ceil(messageIds.length / MAX_BODY_ENTRIES)
  return Array.from({ length: count }, (_, index) => ({
    messageIds: messageIds.slice(index * MAX_BODY_ENTRIES, (index + 1) * MAX_BODY_ENTRIES),
  }))
}

async function askFor(context: CliContext, wishes: readonly object[], dryRun: boolean): Promise<ResendAnswer> {
  const sum: ResendAnswer = { resent: 0, refused: 0, left: { ...NONE_LEFT } }
  for (const wish of wishes) {
    const request = { method: 'POST', path: '/v1/operator/messages/resend', needs: 'server' } as const
    const { resent, refused, left } = (await ask(context, { ...request, body: { ...wish, dryRun } })) as ResendAnswer
    sum.resent += resent
    sum.refused += refused
    for (const [reason] of REASONS) sum.left[reason] += left[reason]
  }
  return sum
}

/** Why messages are left out, in the order in which they are printed. */
const REASONS: readonly [keyof ResendAnswer['left'], words: string][] = [
  ['optedOut', 'opted out'],
  ['tooOld', 'too old'],
  ['cancelled', 'cancelled'],
  ['perhapsDelivered', 'perhaps delivered'],
  ['alreadyResent', 'already sent again'],
  ['notFailed', 'not failed'],
]
const NONE_LEFT = Object.fromEntries(REASONS.map(([reason]) => [reason, 0])) as ResendAnswer['left']

function leftOf({ left }: ResendAnswer): string {
  const some = REASONS.filter(([reason]) => left[reason] > 0)
  const total = some.reduce((sum, [reason]) => sum + left[reason], 0)
  if (total === 0) return ''
  return `${total} ${total === 1 ? 'is' : 'are'} left out: ${some.map(([reason, words]) => `${left[reason]} ${words}`).join(', ')}\n`
}

/** The options as typed. */
const wordsOf = (options: object, { options: known }: Command): string[] =>
  known.flatMap((option) => {
    const value: unknown = Reflect.get(options, option.attributeName())
    return typeof value === 'string' ? [option.long ?? '', value] : []
  })
