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
  /** Null if the provider issued none, which is correct only for a JWT. */
  refreshToken: string | null
  refreshExpiresInSeconds: number
  /** When the session ends, even if tokens are refreshed. Null if the account sets no such end. */
  sessionEndsInSeconds: number | null
  /** The extension's id. */
  ownerId: string
}
