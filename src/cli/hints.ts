import { type ErrorName, errorText, invalidParameter } from '../core/errors.ts'

const TIMES = ': give a date (2026-11-24), a date-time with offset (2026-11-24T10:00:00Z), or 2h for two hours ago'

const NUMBER = ': write a number with + and its country code, such as +15555550100'
const ADDRESS =
  ': write it in full, such as https://example.com/sms; in production a private address such as 127.0.0.1 must be in WEBHOOK_ALLOW_CIDRS'

/** Advice at the terminal for errors whose texts the API fixes. */
const HINTS: Readonly<Record<string, string>> = {
  [errorText('appActive')]: ': sgw app rotate-key APP gives it a new key',
  [errorText('appInactive')]: ': sgw app activate APP activates it, with a new key',
  [errorText('appNotFound')]: ': list the apps with sgw app list',
  [errorText('badAppId')]: ': list the apps with sgw app list',
  [errorText('badTenantId')]: ': list the tenants with sgw tenant list',
  [errorText('tenantNotActive')]: ': list the tenants with sgw tenant list',
  [errorText('messageNotFound')]: ': list the messages with sgw messages list',
  [errorText('badMessageId')]: ': list the messages with sgw messages list',
  [errorText('extensionNotFound')]: ': list the extensions with sgw extensions list',
  [errorText('alertNotFound')]: ': it is not firing, or not for this subject (sgw alerts lists those that are)',
  [errorText('deliveryNotFound')]: ': list the deliveries with sgw webhooks list',
  [errorText('deliveryWithoutDestination')]:
    ': its app is inactive or has no webhook address (sgw app list --tenant TENANT), or its trigger was deleted',
  [errorText('forbidden')]: ': no tenant has it, or not this one (sgw app list, sgw trigger list)',
  [errorText('triggerNotFound')]: ': list the triggers with sgw trigger list',
  [errorText('badTriggerId')]: ': list the triggers with sgw trigger list',
  [errorText('tenantNotFound')]: ': list them with sgw tenant list',
  [errorText('badPhoneNumber')]: NUMBER,
  [errorText('badNumberOrContact')]: NUMBER,
  [errorText('badPhone')]: NUMBER,
  [errorText('badWebhookUrl')]: ADDRESS,
  [errorText('badCallbackUrl')]: ADDRESS,
  'The tenant is connected to another RingCentral account: use another tenant':
    ' (sgw tenant create --name NAME), or disconnect its extensions first, for example those of the simulator: sgw extensions list, and sgw extensions disconnect EXTENSION --tenant TENANT',
  [errorText('badCursor')]: ': sgw events and GET /v1/events print cursors',
  [errorText('badTo')]: ': at most 10 numbers, separated by commas',
  [errorText('badText')]: ': {{path.to.0.value}} is a value of the JSON, and a text has at most 2000 characters',
  [invalidParameter('startDate').message]: TIMES,
  [invalidParameter('endDate').message]: TIMES,
  [errorText('badSince')]: TIMES,
  [errorText('badUntil')]: TIMES,
  [errorText('standby')]:
    ': another gateway is active, or this one is about to be; run this where the lease is held (sgw lease names it)',
  [errorText('noStandby')]: ': no other gateway is ready to take over',
  [errorText('notFound')]: ': the server may be older than this program',
}

export const hintOf = (error: string): string => HINTS[error] ?? ''

/** The text of an error, with its advice. */
export const withHint = (name: ErrorName): string => `${errorText(name)}${hintOf(errorText(name))}`
