import { z } from 'zod'
import { systemClock } from '../core/clock.ts'
import { printable } from '../core/printable.ts'
import { isLoopbackHost } from '../core/proxy.ts'
import { webhookSecret } from '../core/secrets.ts'
import { EXIT } from '../core/start-error.ts'
import { readOrCreateSecret } from '../db/data-folder.ts'
import { AddressGuard, guardRules } from '../net/outbound/address-guard.ts'
import { type PostResult, WebhookPoster } from '../net/outbound/webhook-poster.ts'
import { signedHeaders } from '../net/outbound/sign.ts'
import { formsOf, kindOf } from '../net/outbound/special-addresses.ts'
import { bareHost, parseWebhookUrl } from '../net/outbound/webhook-url.ts'
import { noServer } from './ask.ts'
import { type CliContext, CliError, requireSettings } from './context.ts'
import { openEvents } from './event-lines.ts'

/** Pause between attempts to reach the server again. */
const RETRY_MS = 500
const LISTEN_SECRET = 'listen-webhook-secret'

export interface ListenOptions {
  forwardTo?: string
  tenant?: string
}

/**
 * Shows every inbound message, and forwards it like a webhook to `forwardTo`, until it is interrupted. The secret that signs them stays the
 * same. If the server restarts, it reconnects; messages that arrive in between are not forwarded.
 */
export async function listen(context: CliContext, { forwardTo, tenant }: ListenOptions): Promise<void> {
  const poster = forwardTo === undefined ? null : createPoster(context, forwardTo)
  let forwarder: Forwarder | null = null
  for (let tries = 1; ; tries++) {
    const lines = await openEvents(context, tenant)
    if (lines === null && tries === 1) throw noServer()
    // The forwarder is created only when a server has answered, because it stores its secret in the server's folder.
    forwarder ??=
      poster === null || forwardTo === undefined || lines === null ? null : createForwarder(context, forwardTo, poster)
    if (lines !== null) await follow(forwarder ?? createPrinter(context), lines)
    await Bun.sleep(RETRY_MS)
  }
}

interface Forwarder {
  /** Prints text for people: on standard output, or with `--json` on standard error. */
  say(text: string): void
  forward(line: string): Promise<void>
  ready(): void
}

async function follow(forwarder: Forwarder, lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) {
    const { type } = EventLine.parse(JSON.parse(line))
    if (type === 'ready') forwarder.ready()
    // Not awaited, so that a slow destination does not delay the next message.
    else if (type === 'sms_inbound') void forwarder.forward(line)
  }
  forwarder.say('The server has stopped: waiting for it to start again\n')
}

const EventLine = z.looseObject({ type: z.string() })
const InboundLine = z.looseObject({
  type: z.literal('sms_inbound'),
  messageId: z.string(),
  from: z.string(),
  to: z.string(),
  body: z.string(),
})

/** Refuses an address that the webhook rules do not allow. The operator's shell may post to its own machine, even in production. */
function createPoster(context: CliContext, url: string): WebhookPoster {
  requireSettings(context, ['NODE_ENV', 'WEBHOOK_ALLOW_CIDRS'])
  const { config } = context
  const production = config.production && !isLoopbackHost(URL.parse(url)?.hostname ?? '')
  const guard = new AddressGuard(guardRules({ ...config, production }))
  if (!guard.accepts(url))
    throw new CliError(`Cannot forward to ${url}: ${refusalOf(url, production, config.hasPublicUrl)}`, EXIT.usage)
  return new WebhookPoster({ guard, clock: systemClock })
}

/** Which rule a refused address breaks. */
function refusalOf(text: string, production: boolean, hasPublicUrl: boolean): string {
  const url = parseWebhookUrl(text, false)
  if (url === null) return 'give an address such as http://localhost:8080/webhook'
  const forms = formsOf(bareHost(url.hostname))
  if (forms.some((form) => kindOf(form) === 'never')) return 'sgw never posts to link-local and metadata addresses'
  if (production && url.protocol === 'http:')
    return `in production http:// goes only to this machine, such as http://127.0.0.1:8080/webhook${hasPublicUrl ? '' : ', and to addresses in WEBHOOK_ALLOW_CIDRS'}`
  if (forms.length > 0) return 'it is not a public address: list it in WEBHOOK_ALLOW_CIDRS'
  return 'in production its name is public, and its port is 80, 443 or above 1023'
}

/** Prints messages instead of forwarding them. */
function createPrinter(context: CliContext): Forwarder {
  const say = context.json ? context.stderr : context.stdout
  return {
    say,
    ready: () => say('Ready: messages appear as they arrive (Ctrl+C to end)\n'),
    async forward(line) {
      const { from, to, body } = InboundLine.parse(JSON.parse(line))
      const text = context.json ? line : `${time()}  ${from} → ${to}  ${body}`
      context.stdout(`${printable(text)}\n`)
    },
  }
}

function createForwarder(context: CliContext, url: string, poster: WebhookPoster): Forwarder {
  const secret = readOrCreateSecret(context.config, LISTEN_SECRET, () =>
    webhookSecret(crypto.getRandomValues(new Uint8Array(32))),
  )
  const say = context.json ? context.stderr : context.stdout
  return {
    say,
    ready: () => say(`Ready: inbound messages go to ${url}, signed with ${secret} (Ctrl+C to end)\n`),
    async forward(body) {
      const event = InboundLine.parse(JSON.parse(body))
      say(`${time()}  --> ${event.type} [${event.messageId}]\n`)
      const timestampSeconds = Math.floor(systemClock.now() / 1000)
      const headers = signedHeaders({ secret, deliveryId: `${event.messageId}:listen`, timestampSeconds, body })
      const result = await poster.post({ url, tenantId: 'listen', body, headers })
      say(
        `${time()} <--  [${result.statusCode ?? 'ERROR'}] POST ${url} [${event.messageId}]${result.statusCode === null ? `: ${result.errorMessage}` : ''}\n`,
      )
      if (context.json)
        context.stdout(`${printable(JSON.stringify({ ...event, delivery: deliveryOf(url, result) }))}\n`)
    },
  }
}

const deliveryOf = (url: string, { outcome, statusCode, errorClass, durationMs }: PostResult): object => ({
  url,
  outcome,
  statusCode,
  errorClass,
  durationMs,
})

/** Local time of day. */
const time = (): string => new Date(systemClock.now()).toTimeString().slice(0, 8)
