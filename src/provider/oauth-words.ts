/** Whether the text is an error code of RFC 6749, and so contains nothing else. */
export const isOauthWord = (text: string): boolean => OAUTH_WORDS.has(text)

/** RFC 6749 4.1.2.1 and 5.2. */
const OAUTH_WORDS = new Set([
  'access_denied',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
])
