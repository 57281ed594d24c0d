import type { Gateway } from '../../messages/gateway.ts'
import { consoleLink } from '../../operator/session.ts'
import type { Development } from './development.ts'
import { NUMBERS } from './prepare.ts'

/** The text that a start in development prints: everything that a developer needs to send a first SMS, ready to paste. */
export function banner(
  { running: { gateway, url }, app: { apiKey }, advance }: Development,
  simulator: string,
): string {
  const mode =
    advance === null
      ? ''
      : '  Test mode         no limits, delivery at once; time moves with sgw simulate advance 24h\n'
  return `
${addresses(gateway, url)}
  API key           ${apiKey}
  Database          ${gateway.config.database.path}
  Simulator         ${simulator}/control
${mode}  The simulator stands in for RingCentral: nothing reaches a real phone.
  Your numbers      ${NUMBERS.join(', ')}

  Send your first SMS:

${firstSms(url, apiKey, NUMBERS[0] ?? '', '+15555550199')}

  Play the phone of a contact, or let the provider fail: sgw simulate --help (or bun run sgw simulate --help)

`
}

export interface RealFacts {
  url: string
  /** Null if the database has tenants, but no app that an earlier start has made. */
  apiKey: string | null
  /** Connects an extension; null if none is needed. */
  connectUrl: string | null
}

/** The same with RingCentral itself. */
export const realBanner = (gateway: Gateway, { url, apiKey, connectUrl }: RealFacts): string =>
  [
    '',
    addresses(gateway, url),
    ...(apiKey === null ? [] : [`  API key           ${apiKey}`]),
    `  Database          ${gateway.config.database.path}`,
    ...(connectUrl === null
      ? []
      : ['', '  Connect an extension: open this link, and log in to RingCentral as it:', '', connectUrl]),
    ...(apiKey === null
      ? []
      : ['', '  Send your first SMS, from a number of the extension:', '', firstSms(url, apiKey, '+1…', '+1…')]),
    '',
    '',
  ].join('\n')

/** The listener, and the console with a link that signs an operator in. */
function addresses(gateway: Gateway, url: string): string {
  const listener = `  sgw listens on    ${url}            API documentation: ${url}/docs`
  if (!gateway.config.console) return listener
  return `${listener}\n  Console           ${consoleLink(gateway, gateway.operatorSessions.createDevelopmentLogin())}`
}

const firstSms = (
  url: string,
  apiKey: string,
  from: string,
  to: string,
): string => `curl -s ${url}/v1/sms/send -H 'Authorization: Bearer ${apiKey}' -d '{"from":"${from}","to":"${to}","body":"Hello from sgw"}'

  Then see what became of it:

curl -s '${url}/v1/sms/messages?limit=1' -H 'Authorization: Bearer ${apiKey}'`
