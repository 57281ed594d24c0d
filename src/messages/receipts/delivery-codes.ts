/** Delivery error codes of RingCentral (developer guide, "Handling SMS Messaging Errors"), and 403 of its API reference. */
const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'SMS-RC-403': 'The sending limit of the number was reached',
    'SMS-RC-410': 'The number cannot receive messages',
    'SMS-RC-413': 'The recipient has opted out',
    'SMS-RC-430': 'Refused as spam',
    'SMS-UP-410': 'The number cannot receive messages',
    'SMS-UP-413': 'The recipient has opted out',
    'SMS-UP-414': 'The sending number is not set up for messages',
    'SMS-UP-430': 'Refused as spam',
    'SMS-UP-431': 'The sending number is blocked as a source of spam',
    'SMS-UP-432': 'The message is too long',
    'SMS-UP-433': 'The text could not be delivered as written',
    'SMS-CAR-104': 'The carrier has not reported what became of it',
    'SMS-CAR-199': 'The carrier does not know what became of it',
    'SMS-CAR-400': 'The carrier does not support this kind of message',
    'SMS-CAR-410': 'The message expired before the carrier took it',
    'SMS-CAR-411': 'The number cannot receive messages',
    'SMS-CAR-412': 'The recipient could not be reached',
    'SMS-CAR-413': 'The recipient has opted out',
    'SMS-CAR-414': 'The sending number is not set up for messages',
    'SMS-CAR-430': 'Refused as spam',
    'SMS-CAR-431': 'The carrier refused it without a reason',
    'SMS-CAR-432': 'The message is too long',
    'SMS-CAR-433': 'The text could not be delivered as written',
    'SMS-CAR-434': 'The attachment is too large',
    'SMS-CAR-435': 'Refused because of a shortened link',
    'SMS-CAR-450': "The carrier's sending limit was reached",
    'SMS-CAR-451': "The carrier's daily limit of the campaign was reached",
    'SMS-CAR-452': "The carrier's sending limit was reached",
    'SMS-CAR-460': 'The number does not accept messages from short codes',
    'SMS-CAR-461': 'The toll-free number is not verified',
  }),
)

/** 500 to 509 from RingCentral itself, its gateway or a carrier. */
const PROVIDER_FAULT = /^SMS-(RC|UP|CAR)-50\d$/

/** Says in plain words why a message was not delivered. */
export function reasonOf(code: string | null): string {
  if (code === null) return 'Not delivered'
  if (PROVIDER_FAULT.test(code)) return 'The provider failed to send it'
  return REASONS.get(code) ?? `Not delivered (${code})`
}

/** Whether a code means that the recipient has opted out of the number. */
export const meansOptedOut = (code: string | null): boolean => code !== null && /^SMS-(RC|UP|CAR)-413$/.test(code)
