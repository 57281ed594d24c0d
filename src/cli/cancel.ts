import type { Command } from 'commander'
import { MAX_BODY_ENTRIES } from '../core/limits.ts'
import type { CancelAnswer } from '../operator/schemas.ts'
import { ask } from './ask.ts'
import { confirm } from './confirm.ts'
import type { CliContext } from './context.ts'
import { findApp } from './find-app.ts'
import { print, sayNext } from './print.ts'

export interface CancelOptions {
  tenant?: string
  app?: string
  state?: string
  yes?: boolean
  dryRun?: boolean
}

/** Cancels the named messages, or those of a tenant. Counts them first, so that nobody confirms something impossible. */
export async function cancel(
  context: CliContext,
  messageIds: readonly string[],
  { yes = false, dryRun = false, ...filters }: CancelOptions,
  command: Command,
): Promise<void> {
  const wishes = wishesOf(messageIds, filters, command)
  if (filters.app !== undefined) await findApp(context, filters.app)
  const counted = await askFor(context, wishes, true)
  if (dryRun || counted.cancelled === 0) return print(context, counted)
  const messages = counted.cancelled === 1 ? '1 message' : `${counted.cancelled} messages`
  const whose = filters.tenant === undefined ? '' : ` of ${filters.tenant}`
  await confirm(context, yes, `This cancels ${messages}${whose} for good. Continue?`)
  const done = await askFor(context, wishes, false)
  print(context, done)
  if (done.left > 0) sayNext(context, 'The others are being sent or have ended: sgw messages list --state waiting')
}

/** The bodies of the requests: a long list of ids takes several. Ends the command if the options name no messages. */
function wishesOf(messageIds: readonly string[], filters: CancelOptions, command: Command): object[] {
  const { tenant, app, state } = filters
  if (messageIds.length === 0) {
    if (tenant !== undefined) return [{ tenantId: tenant, appId: app, state }]
    return command.error("error: required argument 'message' or option '--tenant <tenant>' not specified", USAGE)
  }
  if ((tenant ?? app ?? state) !== undefined)
    return command.error('error: name messages, or narrow a tenant with --app and --state, not both', USAGE)
  const count = Math.ceil(messageIds.length / MAX_BODY_ENTRIES)
  return Array.from({ length: count }, (_, index) => ({
    messageIds: messageIds.slice(index * MAX_BODY_ENTRIES, (index + 1) * MAX_BODY_ENTRIES),
  }))
}

const USAGE = { exitCode: 2 }

async function askFor(context: CliContext, wishes: readonly object[], dryRun: boolean): Promise<CancelAnswer> {
  const sum: CancelAnswer = { cancelled: 0, left: 0 }
  for (const wish of wishes) {
    const body = { ...wish, dryRun }
    const answer = await ask(context, { method: 'POST', path: '/v1/operator/messages/cancel', body })
    const { cancelled, left } = answer as CancelAnswer
    sum.cancelled += cancelled
    sum.left += left
  }
  return sum
}
