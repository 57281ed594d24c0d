import { parseDuration } from '../core/duration.ts'
import { isoTime, systemClock } from '../core/clock.ts'
import { parseDateTime } from '../core/date-time.ts'
import { LONGEST_BEFORE_FAILURE_MS, NEVER_SENT_AGAIN, RESEND_KEY } from '../core/message-failure.ts'
import { EXIT } from '../core/start-error.ts'
import type { MessageState, NewMessage } from '../client/types.ts'
import type { Attachment } from '../client/sms-types.ts'
import { Refused, ask, askServer, noServer, resultOf } from './ask.ts'
import { confirm } from './confirm.ts'
import { type CliContext, CliError, type OperatorRequest } from './context.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'
import { actingApps, everyItem } from './tenant-scope.ts'

export interface ResendOptions {
  failedSince: string
  tenant: string
  yes?: boolean
}

interface FailedMessage extends MessageState {
  appId: string
  userId: string | null
  /** How many files it carries; absent for a text. */
  attachments?: number
}

/** Sends the texts of a tenant's failed messages again, as new messages of the same apps. A repetition within a day sends none twice. */
export async function resend(context: CliContext, { failedSince, tenant, yes = false }: ResendOptions): Promise<void> {
  const since = timeOf(failedSince)
  // Nobody is asked about what then cannot be done.
  if ((await askServer(context, { method: 'GET', path: '/v1/operator/status' })) === null) throw noServer()
  const failed = await findFailed(context, since, tenant)
  const again = failed.filter(({ error }) => !NEVER_SENT_AGAIN.includes(error ?? ''))
  const skipped = failed.length - again.length
  if (skipped > 0) context.stderr(`${skipped} are left out: cancelled, opted out, or perhaps delivered\n`)
  if (again.length > 0) {
    context.stderr(`${again.length} failed:\n`)
    for (const [error, count] of countsOf(again)) context.stderr(`${String(count).padStart(6)}  ${error}\n`)
    await confirm(context, yes, `This sends ${again.length} new messages for ${tenant}. Go on?`)
  }
  let resent = 0
  let repeated = 0
  const refusals: string[] = []
  const work = async (): Promise<void> => {
    for (const message of again) {
      const result = await sendAgain(context, message)
      if (result === 'sent') resent++
      else if (result === 'sent before') repeated++
      else refusals.push(`${message.messageId}: ${result.refusal}`)
    }
  }
  await withProgress(context, work(), () => `${resent} of ${again.length} sent`)
  for (const refusal of refusals) context.stderr(`${refusal}\n`)
  if (repeated > 0) context.stderr(`${repeated} were sent again before\n`)
  print(context, { resent, skipped: skipped + repeated, refused: refusals.length })
  if (refusals.length > 0) throw new CliError('')
}

function timeOf(text: string): number {
  const ago = parseDuration(text)
  const at = ago === null ? parseDateTime(text) : systemClock.now() - ago
  if (at !== null) return at
  throw new CliError(
    `--failed-since ${text}: give a date-time with offset (2026-11-24T10:00:00Z), or 2h for two hours ago`,
    EXIT.usage,
  )
}

/** Oldest first, so that their order stays. */
async function findFailed(context: CliContext, since: number, tenant: string): Promise<FailedMessage[]> {
  const [app] = await actingApps(context, tenant)
  if (app === undefined) return []
  const query = {
    direction: 'outbound',
    status: 'failed',
    include: 'delivery',
    startDate: isoTime(since - LONGEST_BEFORE_FAILURE_MS),
  }
  const list = { path: '/v1/sms/messages', field: 'messages', query, time: 'createdAt' }
  const items = (await everyItem(context, list, app)) as unknown as FailedMessage[]
  return items.filter(({ updatedAt }) => Date.parse(updatedAt) >= since).toReversed()
}

function countsOf(messages: readonly FailedMessage[]): [error: string, count: number][] {
  const groups = Map.groupBy(messages, ({ error }) => error ?? '')
  return [...groups].map(([error, group]): [string, number] => [error, group.length]).toSorted((a, b) => b[1] - a[1])
}

async function sendAgain(context: CliContext, message: FailedMessage): Promise<SendAgain> {
  const { messageId, appId, from, to, body, userId } = message
  // Every field of a send, so that the compiler names a new one. The time for which the message was planned is over.
  const again: Required<Omit<NewMessage, 'sendAt'>> = {
    from,
    to,
    body,
    userId,
    mediaIds: await mediaOf(context, message),
  }
  const response = await askServer(context, {
    method: 'POST',
    path: '/v1/sms/send',
    appId,
    idempotencyKey: `${RESEND_KEY}${messageId}`,
    body: again,
  })
  if (response === null) throw noServer()
  try {
    await resultOf(response)
    return response.headers.get('idempotent-replayed') === 'true' ? 'sent before' : 'sent'
  } catch (error) {
    if (error instanceof Refused) return { refusal: error.message }
    throw error
  }
}

/** The media that the message carries. If it is not kept any more, the send is refused. */
async function mediaOf(
  context: CliContext,
  { messageId, appId, attachments }: FailedMessage,
): Promise<string[] | null> {
  if (attachments === undefined) return null
  const request: OperatorRequest = { method: 'GET', path: `/v1/sms/${messageId}/attachments`, appId }
  const listed = (await ask(context, request)) as { attachments: Attachment[] }
  return listed.attachments.map(({ attachmentId }) => attachmentId)
}

type SendAgain = 'sent' | 'sent before' | { refusal: string }
