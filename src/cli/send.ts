import type { Accepted, MessageState, Timeline } from '../client/types.ts'
import { EXIT } from '../core/start-error.ts'
import { ask } from './ask.ts'
import { type CliContext, CliError, type OperatorRequest, type Run } from './context.ts'
import { fixesOf } from './extension-health.ts'
import { print, sayNext } from './print.ts'
import { reasonOf } from './reasons.ts'
import { textOf } from './standard-input.ts'
import { uploadAll } from './upload-all.ts'
import { type ActingApp, askOwner } from './tenant-scope.ts'

export interface SendOptions {
  from: string
  to: string
  app?: string
  media?: readonly string[]
  wait?: boolean
}

const WAIT_MS = 60_000
const POLL_MS = 100

/**
 * Sends a message; `-` as the text reads it from standard input. Uploads its files first. With `wait` it waits for the outcome, and says what the
 * message waits for.
 */
export async function send(
  context: CliContext,
  given: string | undefined,
  options: SendOptions,
  run: Run,
): Promise<void> {
  const { media = [], wait = false } = options
  const request = await requestOf(context, given, options)
  if (!wait && media.length === 0) return run(request, { view: (message: MessageState) => shown(context, message) })
  const { messageId } = (await ask(context, request)) as Accepted
  const { answer, app } = await askOwner(context, timelineOf(messageId))
  const isFinal = !wait || (await untilFinal(context, app, answer as Timeline))
  const path = `/v1/sms/status/${messageId}`
  const message = (await ask(context, { method: 'GET', path, appId: app.appId })) as MessageState
  print(context, message)
  if (!wait) return void shown(context, message)
  if (!isFinal) throw new CliError(`It is still ${message.status}: sgw messages show ${messageId} says more`)
  if (message.status === 'sent') return
  const fixes = context.json ? [] : await fixesOf(context, app.tenantId, [message])
  throw new CliError(fixes.join('\n'))
}

function shown(context: CliContext, message: MessageState): MessageState {
  sayNext(context, `To see what happens to it: sgw messages show ${message.messageId}`)
  return message
}

async function requestOf(
  context: CliContext,
  given: string | undefined,
  { from, to, app, media = [] }: SendOptions,
): Promise<OperatorRequest> {
  if (given === undefined && media.length === 0) throw new CliError("missing required argument 'text'", EXIT.usage)
  const message = { from, to, body: given === undefined ? '' : await textOf(context, given) }
  if (media.length === 0) {
    return { method: 'POST', path: '/v1/operator/send', body: { message, appId: app }, needs: 'server' }
  }
  const { appId, mediaIds } = await uploadAll(context, { from, app }, media)
  return { method: 'POST', path: '/v1/sms/send', body: { ...message, mediaIds }, appId, needs: 'server' }
}

const timelineOf = (messageId: string): OperatorRequest => ({ method: 'GET', path: `/v1/sms/${messageId}/timeline` })

/** Whether the message was sent or failed within a minute. Each new reason to wait goes to standard error. */
async function untilFinal(context: CliContext, { appId }: ActingApp, first: Timeline): Promise<boolean> {
  const deadline = performance.now() + WAIT_MS
  let said = ''
  for (let now = first; ; now = (await ask(context, { ...timelineOf(first.messageId), appId })) as Timeline) {
    if (now.status === 'sent' || now.status === 'failed') return true
    if (performance.now() > deadline) return false
    const reason = now.waiting === null ? '' : reasonOf(now.waiting)
    if (reason !== '' && now.waiting?.reason !== said) context.stderr(`It waits. ${reason}\n`)
    said = now.waiting?.reason ?? said
    await Bun.sleep(POLL_MS)
  }
}
