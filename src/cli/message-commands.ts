import { type Command, InvalidArgumentError, Option } from 'commander'
import { MessagesQuery } from '../api/sms/messages-query.ts'
import { printable } from '../core/printable.ts'
import { MESSAGE_STATUSES } from '../db/schema/messages.ts'
import type { OptOut } from '../client/resource-types.ts'
import type { Attachment } from '../client/sms-types.ts'
import type { MessageState, Timeline } from '../client/types.ts'
import { ask } from './ask.ts'
import { type CancelOptions, cancel } from './cancel.ts'
import type { CliContext, Run } from './context.ts'
import { fixesOf } from './extension-health.ts'
import { type FilterOptions, addFilters } from './filters.ts'
import { type NotifyOptions, notify } from './notify.ts'
import { pageLine, print, sayNext, symbolOf } from './print.ts'
import { reasonOf, shortTime } from './reasons.ts'
import { type ResendOptions, resend } from './resend.ts'
import { type SendOptions, send } from './send.ts'
import { steps } from './steps.ts'
import { lines, table } from './table.ts'
import { type ActingApp, actingApps, askOwner, listAll } from './tenant-scope.ts'
import { hanging } from './wrap.ts'

/** Adds the commands that send messages and show what happened to them. */
export function addMessages(program: Command, contextOf: () => CliContext, run: Run): void {
  addSending(program, contextOf, run)
  const messages = program.command('messages').alias('message').description('See what happened to messages')
  addList(messages, contextOf)
  messages
    .command('show')
    .description('Show every step of a message, and why it is waiting or failed')
    .argument('<message>', 'message id (sgw messages list)')
    .option('--tenant <tenant>', 'the tenant of the message; without it, all are searched')
    .action((messageId: string, { tenant }: { tenant?: string }) => show(contextOf(), messageId, tenant))
  addResend(messages, contextOf)
  addCancel(messages, contextOf)
}

function addSending(program: Command, contextOf: () => CliContext, run: Run): void {
  program
    .command('send')
    .description('Send an SMS')
    .requiredOption('--from <number>', 'a connected number (sgw extensions list), E.164')
    .requiredOption('--to <number>', 'the receiver, E.164')
    .option('--app <app>', 'the app that sends; needed if several tenants, or none, have connected the number')
    .option('--media <file>', 'a picture or other file to send; up to ten times', collect)
    .option('--wait', 'wait up to a minute until it is sent or failed, and say why it waits')
    .argument('[text]', 'the message; - reads it from standard input; optional with --media')
    .action((text: string | undefined, options: SendOptions) => send(contextOf(), text, options, run))
  program
    .command('notify')
    .description("Turn JSON on standard input, such as a tool's alert, into a text, and send it")
    .requiredOption('--from <number>', 'a connected number (sgw extensions list), E.164')
    .requiredOption('--to <numbers>', 'up to 10 receivers, E.164, separated by commas')
    .option('--text <template>', 'the text; {{path.to.0.value}} stands for a value of the JSON')
    .option('--app <app>', 'the app that sends; needed if several tenants, or none, have connected the number')
    .action((options: NotifyOptions) => notify(contextOf(), options, run))
}

const collect = (file: string, files: readonly string[] = []): string[] => [...files, file]

function addResend(messages: Command, contextOf: () => CliContext): void {
  messages
    .command('resend')
    .description('Send failed messages again as new ones, each at most once: those that you name, or all since a time')
    .argument('[message...]', 'message ids (sgw messages list)')
    .option(
      '--failed-since <time>',
      'messages that failed since then: a date-time with offset, or 2h for two hours ago',
    )
    .option('--failed-until <time>', 'messages that failed until then')
    .option('--failure <failure>', 'only messages that failed for this reason, such as unknown_number')
    .option('--tenant <tenant>', 'tenant id (sgw tenant list); needed if there are several')
    .option('--app <app>', "only this app's messages")
    .option('--from <number>', 'the number to send from, instead of the original one')
    .option('--max-age <time>', 'skip messages accepted longer ago than this, such as 2h')
    .option('--dry-run', 'only count what would be sent')
    .option('--yes', 'do not ask')
    .action((ids: string[], options: ResendOptions, command: Command) => resend(contextOf(), ids, options, command))
}

function addCancel(messages: Command, contextOf: () => CliContext): void {
  messages
    .command('cancel')
    .description(
      'Cancel messages that have not been sent yet: those that you name, or all of a tenant, even a suspended one',
    )
    .argument('[message...]', 'message ids (sgw messages list)')
    .option('--tenant <tenant>', 'instead of ids: every waiting or scheduled message of the tenant')
    .option('--app <app>', "only this app's messages")
    .addOption(new Option('--state <state>', 'only messages in this state').choices(['waiting', 'scheduled']))
    .option('--dry-run', 'only count what would be cancelled')
    .option('--yes', 'do not ask')
    .action((ids: string[], options: CancelOptions, command: Command) => cancel(contextOf(), ids, options, command))
}

function addList(messages: Command, contextOf: () => CliContext): void {
  const list = messages.command('list').description('List messages of all tenants, newest first')
  const queryOf = addFilters(list, MessagesQuery, FILTERS)
  list.action(async (given: Record<string, string>) => {
    const { tenant, contact, number } = given
    const context = contextOf()
    const query = { ...queryOf(given), include: context.json ? given['include'] : 'delivery' }
    const request = { path: '/v1/sms/messages', field: 'messages', query, time: 'createdAt' }
    const { items, ...page } = await listAll(context, request, tenant)
    const names = new Map((await actingApps(context, tenant)).map((app) => [app.tenantId, app.tenantName]))
    const shown = (items as unknown as ListedMessage[]).map((message) => {
      return { ...message, tenantName: names.get(message.tenantId) ?? '-' }
    })
    if (context.json) return print(context, { messages: shown, ...page })
    const ofSeveral = new Set(shown.map(({ tenantId }) => tenantId)).size > 1
    context.stdout(
      items.length === 0
        ? 'none\n'
        : table(
            context,
            shown.map((message) => rowOf(message, ofSeveral)),
          ),
    )
    context.stdout(pageLine({ ...page, shown: items.length }))
    context.stdout(await fixLines(context, shown))
    if (contact !== undefined) context.stdout(await optOutLines(context, { contact, number }, tenant))
  })
}

const SENT_IS = 'delivered and undelivered ones are sent'

/** Help for some filters; the others have the API's description. */
const FILTERS: FilterOptions<typeof MessagesQuery> = {
  status: { says: SENT_IS, parse: statusOf },
  direction: { says: '' },
  appId: { flags: '--app <app>', says: "only this app's messages" },
  from: { flags: '--from <number>', says: 'only from this number' },
  to: { flags: '--to <number>', says: 'only to this number' },
  number: { says: 'only this number of yours, in both directions' },
  contact: {
    flags: '--contact <number>',
    says: 'only this contact, in both directions; also says whether it opted out',
  },
  userId: { says: 'only with this userId' },
  include: { flags: '--include <what>', says: 'with --json: more fields' },
  contactEndsWith: { flags: '--contact-ends-with <digits>' },
}

/** The list shows two states that are not statuses, so people try them as such. */
function statusOf(text: string): string {
  if (MESSAGE_STATUSES.some((status) => status === text)) return text
  throw new InvalidArgumentError(`Allowed choices are ${MESSAGE_STATUSES.join(', ')}; ${SENT_IS}: see --state.`)
}

interface Pair {
  contact: string
  number: string | undefined
}

/** Which of the tenant's numbers must not text a contact. */
async function optOutLines(context: CliContext, { contact, number }: Pair, tenant?: string): Promise<string> {
  const request = { path: '/v1/opt-outs', field: 'optOuts', query: { contact, number, limit: '100' }, time: 'since' }
  const { items } = await listAll(context, request, tenant)
  const found = (items as unknown as OptOut[]).map(
    (optOut) => `opted out of ${optOut.number} since ${shortTime(optOut.since)} (${optOut.source})`,
  )
  // Two tenants can have the same number.
  return [...new Set(found)].map((line) => `${symbolOf(context, 'warn')} ${contact} ${line}\n`).join('')
}

/** Advice about messages whose error suggests the wrong fix. */
async function fixLines(context: CliContext, messages: readonly ListedMessage[]): Promise<string> {
  const fixes: string[] = []
  for (const [tenantId, own] of Map.groupBy(messages, (message) => message.tenantId))
    fixes.push(...(await fixesOf(context, tenantId, own)))
  return fixes.map((fix) => hanging(context, `${symbolOf(context, 'warn')} `, printable(fix))).join('')
}

interface ListedMessage extends MessageState {
  tenantId: string
  tenantName: string
  direction: 'inbound' | 'outbound'
  deliveryStatus?: string | null
  waiting?: { reason: string; until?: string } | null
  attachments?: number
}

/** A page with several tenants names them. */
function rowOf(message: ListedMessage, ofSeveral: boolean): Record<string, string> {
  const { messageId, createdAt, direction, from, to, status, error, body, tenantName, deliveryStatus, waiting } =
    message
  const isOver = status === 'sent' && (deliveryStatus === 'delivered' || deliveryStatus === 'undelivered')
  return {
    messageId,
    created: shortTime(createdAt),
    contact: direction === 'inbound' ? `← ${from}` : `→ ${to}`,
    status: isOver ? deliveryStatus : status,
    ...(ofSeveral ? { tenant: tenantName } : {}),
    note: `${filesOf(message)}${error ?? waiting?.reason ?? body}`,
  }
}

/** `[1 file] `, before the rest of the text. */
function filesOf({ attachments = 0 }: ListedMessage): string {
  return attachments === 0 ? '' : `[${attachments} ${attachments === 1 ? 'file' : 'files'}] `
}

async function show(context: CliContext, messageId: string, tenant: string | undefined): Promise<void> {
  const path = `/v1/sms/${encodeURIComponent(messageId)}/timeline`
  const { answer, app } = await askOwner(context, { method: 'GET', path }, tenant)
  if (context.json) return print(context, answer)
  const { status, deliveryStatus, waiting, entries } = answer as Timeline
  const request = { method: 'GET', path: `/v1/sms/status/${encodeURIComponent(messageId)}`, appId: app.appId } as const
  const message = (await ask(context, request)) as MessageState
  const { from, to, body, error } = message
  const files = entries.some((entry) => 'attachments' in entry && (entry.attachments ?? 0) > 0)
    ? await filesFieldOf(context, app, messageId)
    : ''
  const fixes = await fixesOf(context, app.tenantId, [message])
  const fields = {
    messageId,
    tenantId: app.tenantId,
    from,
    to,
    body,
    ...(files === '' ? {} : { files }),
    status,
    ...(deliveryStatus === null ? {} : { delivery: deliveryStatus }),
    ...(error === null ? {} : { error }),
    ...(fixes.length === 0 ? {} : { fix: fixes.join(' ') }),
    ...(waiting === null ? {} : { waiting: reasonOf(waiting) }),
  }
  context.stdout(`${lines(context, fields)}\n`)
  context.stdout(steps(context, entries))
  if (entries.some((entry) => entry.type === 'webhook' && entry.outcome !== 'success'))
    sayNext(context, `Why a webhook failed: sgw webhooks list --message ${messageId}`)
}

/** `door.jpg (image/jpeg, 48213 bytes), image/png`: each file, as far as the provider describes it. */
async function filesFieldOf(context: CliContext, { appId }: ActingApp, messageId: string): Promise<string> {
  const path = `/v1/sms/${encodeURIComponent(messageId)}/attachments`
  const { attachments } = (await ask(context, { method: 'GET', path, appId })) as { attachments: Attachment[] }
  return attachments
    .map(({ fileName, contentType, size }) => {
      const about = size === null ? contentType : `${contentType}, ${size} bytes`
      return fileName === null ? about : `${fileName} (${about})`
    })
    .join('; ')
}
