/** Why there was no response, as stored with a delivery attempt. */
export interface WebhookFailure {
  /** The system's error code, or a name of sgw: `TimeoutError`, `BlockedAddress`, `TooManyInterimResponses`. */
  errorClass: string
  /** A sentence of sgw, because the system's messages contain addresses and a URL may contain a secret. */
  errorMessage: string
}

/** Describes an error that was thrown, or a code passed as `{ code }`. */
export function failureOf(error: unknown): WebhookFailure {
  const errorClass = classOf(error)
  return { errorClass, errorMessage: MESSAGES.find(([codes]) => codes.test(errorClass))?.[1] ?? 'The request failed' }
}

/** `isListable`: WEBHOOK_ALLOW_CIDRS could allow it. */
export function blockedAddress(isListable: boolean): WebhookFailure {
  const blocked = failureOf({ code: 'BlockedAddress' })
  if (!isListable) return blocked
  return { ...blocked, errorMessage: `${blocked.errorMessage}, unless WEBHOOK_ALLOW_CIDRS has it` }
}

/** Whether there was no connection. Then nothing was sent, and another address of the name may be tried. */
export const neverConnected = (failure: WebhookFailure): boolean => UNREACHED.test(failure.errorClass)

const UNREACHED = /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EAFNOSUPPORT)$/

const MESSAGES: readonly [RegExp, string][] = [
  [/^TimeoutError$/, 'The destination did not answer in time'],
  [/^BlockedAddress$/, 'The destination is not an address that webhooks may be sent to'],
  [/^ECONNREFUSED$/, 'The destination refused the connection'],
  [UNREACHED, 'The destination cannot be reached'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, 'The destination closed the connection without an answer'],
  [/^(ENOTFOUND|ENODATA)$/, "The destination's name does not exist"],
  [/^(ETIMEOUT|EAI_.*|ESERVFAIL|EREFUSED)$/, "The destination's name could not be looked up"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "The destination's certificate is for another name"],
  [/^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/, "The destination's certificate is not valid at this time"],
  [/^(.*SELF_SIGNED.*|UNABLE_TO_.*|CERT_.*)$/, "The destination's certificate is not signed by a known authority"],
  [/^(EPROTO|ERR_SSL.*|ERR_TLS.*)$/, 'No TLS connection could be made with the destination'],
  [/^(HPE_.*|TooManyInterimResponses)$/, 'The destination answered with something that is not proper HTTP'],
]

function classOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'Error'
  const code = 'code' in error ? error.code : undefined
  const name = error instanceof Error ? error.name : 'Error'
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code.replace(/^DNS_/, '') : name
}
