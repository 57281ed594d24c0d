import type { Gateway } from '../../messages/gateway.ts'
import { consoleLink } from '../../operator/session.ts'
import { addressLines, firstSms } from '../greeting.ts'
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

  Text as a contact would, or make the provider fail: sgw simulate --help (or bun run sgw simulate --help)

`
}

/** The listener, and the console with a link that signs an operator in. */
function addresses(gateway: Gateway, url: string): string {
  const links = gateway.config.console ? [consoleLink(gateway, gateway.operatorSessions.createDevelopmentLogin())] : []
  return addressLines(url, links)
}
