/**
 * Errors that a caller of the API can get. The contract fixes their texts. `api/http/errors.ts` has the table from
 * kind to HTTP status. Any other thrown error is a bug of the gateway.
 */
export type ErrorKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'timeout'
  | 'too_large'
  | 'unsupported'
  | 'too_many'
  | 'unavailable'
  | 'bad_gateway'

const TEXTS = {
  missingSendField: ['invalid', 'to, from, and body are required'],
  badPhoneNumber: ['invalid', 'to and from must be valid E.164 phone numbers'],
  badBodyLength: ['invalid', 'body must be 1-1600 characters'],
  badMediaIds: ['invalid', 'Invalid mediaIds'],
  unknownMedia: ['invalid', 'Media not found'],
  badMediaBody: ['invalid', 'body must be 1-1000 characters with media'],
  mediaEmpty: ['invalid', 'Media is empty'],
  badFileName: ['invalid', 'Invalid fileName'],
  badUserId: ['invalid', 'userId must be a string of at most 255 characters'],
  badSendAt: ['invalid', 'Invalid sendAt'],
  badIdempotencyKey: ['invalid', 'Idempotency-Key must be 1-255 visible ASCII characters'],
  badNotifyKey: ['invalid', 'Idempotency-Key must be 1-239 visible ASCII characters'],
  badTo: ['invalid', 'Invalid to'],
  badText: ['invalid', 'Invalid text'],
  badMessageId: ['invalid', 'Invalid messageId format'],
  badStatus: ['invalid', 'Invalid status'],
  badState: ['invalid', 'Invalid state'],
  badSince: ['invalid', 'Invalid since'],
  badUntil: ['invalid', 'Invalid until'],
  badDeliveryIds: ['invalid', 'Invalid deliveryIds'],
  badFailedSince: ['invalid', 'Invalid failedSince'],
  badFailedUntil: ['invalid', 'Invalid failedUntil'],
  badPolicy: ['invalid', 'Invalid policy'],
  badEvents: ['invalid', 'Invalid events'],
  badName: ['invalid', 'name must be 1-100 characters'],
  badJwt: ['invalid', 'jwt must be 1-8192 characters'],
  missingTenantId: ['invalid', 'tenantId is required when registering new apps'],
  badTenantId: ['invalid', 'Invalid tenantId format'],
  tenantNotActive: ['invalid', 'Tenant not found or not active'],
  badWebhookUrl: ['invalid', 'Invalid webhookUrl: must be https:// in production, max 2000 chars'],
  badCallbackUrl: ['invalid', 'Invalid callbackUrl: must be https:// in production, max 2000 chars'],
  badTriggerId: ['invalid', 'Invalid triggerId format'],
  badIsActive: ['invalid', 'isActive must be a boolean'],
  badAppId: ['invalid', 'Invalid appId format'],
  noWebhookUrl: ['invalid', 'App has no webhookUrl configured'],
  badCursor: ['invalid', 'Invalid cursor'],
  badNumberOrContact: ['invalid', 'number and contact must be valid E.164 phone numbers'],
  tooManyContacts: ['invalid', 'contactEndsWith matches too many contacts'],
  badOptedOut: ['invalid', 'optedOut must be a boolean'],
  badJson: ['invalid', 'Invalid JSON'],
  badHost: ['invalid', 'Invalid Host'],
  missingToken: ['invalid', 'Missing token'],
  badToken: ['invalid', 'Invalid or expired token'],
  missingApp: ['invalid', 'Sgw-App header is required'],
  badPhone: ['invalid', 'phone must be a valid E.164 phone number'],
  badAddress: ['invalid', 'address must be an IP address'],
  badFault: ['invalid', 'Invalid fault'],
  badSituation: ['invalid', 'Invalid situation'],
  badChange: ['invalid', 'Invalid change'],
  badTimes: ['invalid', 'times must be 1-1000'],
  badAttachments: ['invalid', 'Invalid attachments'],
  badDuration: ['invalid', 'duration must be like 90s, 15m, 24h or 7d'],
  missingCodeOrState: ['invalid', 'Missing code or state parameter'],
  missingKey: ['unauthorized', 'Missing or invalid API key'],
  badKey: ['unauthorized', 'Invalid API key'],
  badLogin: ['unauthorized', 'Invalid or expired login'],
  badVerificationToken: ['unauthorized', 'Invalid verification token'],
  tenantSuspended: ['forbidden', 'Tenant suspended or inactive'],
  httpsRequired: ['forbidden', 'HTTPS required'],
  forbidden: ['forbidden', 'Forbidden'],
  messageNotFound: ['not_found', 'Message not found'],
  attachmentNotFound: ['not_found', 'Attachment not found'],
  mediaNotFound: ['not_found', 'Media not found'],
  tenantNotFound: ['not_found', 'Tenant not found'],
  appNotFound: ['not_found', 'App not found'],
  extensionNotFound: ['not_found', 'Extension not found'],
  triggerNotFound: ['not_found', 'Trigger not found'],
  alertNotFound: ['not_found', 'Alert not found'],
  deliveryNotFound: ['not_found', 'Delivery not found'],
  notFound: ['not_found', 'Not found'],
  deliveryInProgress: ['conflict', 'Delivery is already in progress'],
  deliveryWithoutDestination: ['conflict', 'Delivery has no destination'],
  appActive: ['conflict', 'App is already active'],
  appInactive: ['conflict', 'App is not active'],
  alertNotMutable: ['conflict', 'This alert cannot be muted'],
  noStandby: ['conflict', 'STANDBY is off'],
  idempotencyConflict: ['conflict', 'Idempotency-Key was used with a different request'],
  mediaInUse: ['conflict', 'Media is in use'],
  mediaFull: ['conflict', 'The gateway has reached its limit of media'],
  tenantMediaFull: ['conflict', 'Tenant has reached its limit of 200 MB of media'],
  slowBody: ['timeout', 'Request timeout'],
  tooLarge: ['too_large', 'Payload too large'],
  unsupportedMedia: ['unsupported', 'Unsupported media type'],
  tooMany: ['too_many', 'Too many requests'],
  noAttachment: ['bad_gateway', 'The provider did not give the attachment'],
  storageUnavailable: ['unavailable', 'Storage unavailable'],
  standby: ['unavailable', 'Standby'],
} as const satisfies Record<string, readonly [ErrorKind, string]>

export type ErrorName = keyof typeof TEXTS

export class ApiError extends Error {
  override readonly name = 'ApiError'
  constructor(
    readonly kind: ErrorKind,
    message: string,
    /** Whole seconds for `Retry-After`. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message)
  }
}

/** The contract's error of that name. */
export function apiError(name: ErrorName, retryAfterSeconds: number | null = null): ApiError {
  const [kind, text] = TEXTS[name]
  return new ApiError(kind, text, retryAfterSeconds)
}

/** A query parameter has an invalid value. */
export const invalidParameter = (name: string): ApiError => new ApiError('invalid', `Invalid ${name}`)

/** The tenant has reached `MAX_APPS_PER_TENANT` or `MAX_TRIGGERS_PER_TENANT`. */
export const limitReached = (max: number, what: 'apps' | 'triggers'): ApiError =>
  new ApiError('conflict', `Tenant has reached its limit of ${max} ${what}`)

export const isErrorName = (name: string): name is ErrorName => Object.hasOwn(TEXTS, name)

/** The contract's text of that name, for schemas and pages. */
export const errorText = (name: ErrorName): string => TEXTS[name][1]
export const errorTexts = (...names: ErrorName[]): string[] => names.map(errorText)
