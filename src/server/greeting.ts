import { and, eq } from 'drizzle-orm'
import { extensions, phoneNumbers } from '../db/schema/connections.ts'
import type { Gateway } from '../messages/gateway.ts'
import { consoleLink, createLink } from '../operator/session.ts'
import type { RunningGateway } from './run.ts'

/** What only a start in development creates. */
export interface DevelopmentFacts {
  /** Null if the database has tenants, but no app from an earlier start. */
  apiKey: string | null
  /** The link that connects an extension; null if none is needed. */
  connectUrl: string | null
}

/**
 * The text that a start with RingCentral itself prints for a person: where the gateway listens, its console, how texts arrive, and how to send.
 * `development`: null in production, where no key is shown.
 */
export async function greetingOf(
  { gateway, url: listener }: RunningGateway,
  development: DevelopmentFacts | null,
): Promise<string> {
  // In production HOST is often 0.0.0.0.
  const url = development === null ? gateway.config.publicUrl : listener
  const numbers = await numbersSoon(gateway)
  const { apiKey = null, connectUrl = null } = development ?? {}
  // A message sent now would fail permanently.
  const canSend = numbers.length > 0 || !('fix' in gateway.configuredJwt.state)
  return [
    '',
    addressLines(url, await consoleLinks(gateway, development !== null)),
    ...(apiKey === null ? [] : [line('API key', apiKey)]),
    line('Database', gateway.config.database.path ?? ''),
    ...(numbers.length === 0 ? [] : [line('Your numbers', numbers.join(', '))]),
    line('Texts come in', inboundWay(gateway, numbers.length > 0)),
    ...(development === null ? [line('Who may call', callers(gateway))] : []),
    ...(connectUrl === null
      ? []
      : ['', '  Connect an extension: open this link, and log in to RingCentral as that extension:', '', connectUrl]),
    ...(!canSend || (development !== null && apiKey === null) ? [] : ['', sendLines(url, apiKey, numbers[0] ?? null)]),
    '',
    '',
  ].join('\n')
}

const line = (name: string, value: string): string => `  ${name.padEnd(17)} ${value}`

export const addressLines = (url: string, consoleUrls: readonly string[]): string =>
  [
    `  sgw listens on    ${url}            API documentation: ${url}/docs`,
    ...consoleUrls.map((link, index) => line(index === 0 ? 'Console' : '', link)),
  ].join('\n')

/** In production each link signs in once, like those of `sgw console`. */
async function consoleLinks(gateway: Gateway, isDevelopment: boolean): Promise<string[]> {
  if (!gateway.config.console) return []
  if (isDevelopment) return [consoleLink(gateway, gateway.operatorSessions.createDevelopmentLogin())]
  const { url, alsoAt = [] } = await createLink(gateway)
  return [url, ...alsoAt]
}

/** How texts arrive now: an active refusal delays them, and a refused JWT prevents them. */
function inboundWay(gateway: Gateway, isConnected: boolean): string {
  const { config, directory, clock, configuredJwt } = gateway
  const { provider, publicUrl } = config
  const { state } = configuredJwt
  if (!isConnected && 'fix' in state) return `not yet, ${state.variable} has connected no extension: ${state.fix}`
  const refusal = directory.refusals.list(clock.now()).find(({ step }) => step === 'subscription')
  if (refusal !== undefined)
    return `up to a minute late: ${gateway.provider.fixOf(refusal.failure, refusal.step, publicUrl)}`
  return provider.events === 'websocket'
    ? 'over a connection that this gateway opens to RingCentral (RC_EVENTS=websocket)'
    : `from RingCentral, which posts them to ${publicUrl}/v1/webhooks/provider (RC_EVENTS=webhook)`
}

function callers({ config: { plainHttpCidrs } }: Gateway): string {
  return plainHttpCidrs.length === 0
    ? 'programs on this machine; PLAIN_HTTP_CIDRS lets others in'
    : `programs on this machine and in ${plainHttpCidrs.join(', ')}`
}

function sendLines(url: string, apiKey: string | null, from: string | null): string {
  const first = from === null ? '  Send your first SMS, from a number of the extension:' : '  Send your first SMS:'
  const key = 'sgw app list shows your app, and sgw app rotate-key APP makes its key (or bun run sgw …).'
  return `${apiKey === null ? `  ${key}\n` : ''}${first}\n\n${firstSms(url, apiKey ?? 'KEY', from ?? '+1…', '+1…')}`
}

export const firstSms = (
  url: string,
  apiKey: string,
  from: string,
  to: string,
): string => `curl -s ${url}/v1/sms/send -H 'Authorization: Bearer ${apiKey}' -d '{"from":"${from}","to":"${to}","body":"Hello from sgw"}'

  Then see what became of it:

curl -s '${url}/v1/sms/messages?limit=1' -H 'Authorization: Bearer ${apiKey}'`

/** RingCentral needs about a second for a JWT, and each of its calls ends within `PROVIDER_TIMEOUT`. */
const JWT_WAIT_MS = 120_000
const JWT_EVERY_MS = 100

/** The numbers of connected extensions, after RC_JWT was presented: a message sent before its extension is connected fails permanently. */
async function numbersSoon(gateway: Gateway): Promise<string[]> {
  const isTried = (): boolean => gateway.configuredJwt.state.kind !== 'untried' || gateway.lifecycle.draining
  for (let waitedMs = 0; !isTried() && waitedMs < JWT_WAIT_MS; waitedMs += JWT_EVERY_MS) await Bun.sleep(JWT_EVERY_MS)
  const rows = await gateway.database.orm
    .select({ number: phoneNumbers.number })
    .from(phoneNumbers)
    .innerJoin(
      extensions,
      and(
        eq(extensions.tenantId, phoneNumbers.tenantId),
        eq(extensions.extensionId, phoneNumbers.extensionId),
        eq(extensions.status, 'active'),
      ),
    )
    .limit(MAX_NUMBERS)
  return [...new Set(rows.map((row) => row.number))]
}

/** People look for one to try. */
const MAX_NUMBERS = 10
