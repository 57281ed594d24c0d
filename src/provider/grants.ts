export interface AuthorizeRequest {
  state: string
  codeChallenge: string
  redirectUri: string
}

export interface CodeExchange {
  code: string
  codeVerifier: string
  redirectUri: string
}

export interface TokenPair {
  accessToken: string
  /** Seconds from now. */
  expiresInSeconds: number
  /** Null if the provider issued none, which is right for a JWT alone. */
  refreshToken: string | null
  refreshExpiresInSeconds: number
  /** When the session ends, whatever is refreshed. Null if the account sets no such end. */
  sessionEndsInSeconds: number | null
  /** The extension's id. */
  ownerId: string
}
