import { createHash, timingSafeEqual } from 'node:crypto'
import { oauthError } from './errors.ts'
import { header, mediaType, type Call, type Reply } from './http.ts'
import type { ClientApp, World } from './world.ts'

/** Checks that a token or revoke request is a form with the app's credentials in HTTP Basic. Returns the error, or null. */
export function checkClient(world: World, call: Call): Reply | null {
  if (mediaType(call) !== 'application/x-www-form-urlencoded') {
    return oauthError(415, 'invalid_request', 'OAU-250', 'Unsupported Media Type')
  }
  const sent = basicCredentials(call)
  if (sent === null || sent.id !== world.client.id) return unknownClient(sent?.id ?? '')
  if (!equal(sent.secret, world.client.secret)) {
    return oauthError(401, 'invalid_client', 'OAU-146', 'Invalid client credentials')
  }
  return null
}

function basicCredentials(call: Call): ClientApp | null {
  const [, encoded] = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(header(call, 'authorization')) ?? []
  if (encoded === undefined) return null
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? null : { id: text.slice(0, colon), secret: text.slice(colon + 1) }
}

const unknownClient = (id: string): Reply =>
  oauthError(400, 'invalid_client', 'OAU-153', `Invalid client: ${id}`, {
    parameters: [{ parameterName: 'client_id', parameterValue: id }],
  })

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const equal = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right))
