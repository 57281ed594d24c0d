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
  sgw listens on    ${url}            API documentation: ${url}/docs
  API key           ${apiKey}
  Database          ${gateway.config.database.path}
  Simulator         ${simulator}/control
${mode}  The simulator stands in for RingCentral; its numbers end in 0100, 0101 and 0102.

  Send your first SMS:

curl -s ${url}/v1/sms/send -H 'Authorization: Bearer ${apiKey}' -d '{"from":"${NUMBERS[0]}","to":"+15555550199","body":"Hello from sgw"}'

  Then see what became of it:

curl -s '${url}/v1/sms/messages?limit=1' -H 'Authorization: Bearer ${apiKey}'

  Play the phone of a contact, or let the provider fail: sgw simulate --help

`
}
