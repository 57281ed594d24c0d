import { z } from 'zod'
import { ApiError, errorText } from '../../core/errors.ts'
import type { Gateway } from '../../gateway.ts'
import { parseJson } from '../../http/body.ts'
import { route } from '../../http/route.ts'
import { handshakeAnswer } from './handshake.ts'
import { receive, verify } from './receive.ts'

export const webhooksRoutes = [
  route({
    method: 'POST',
    path: '/v1/webhooks/provider',
    auth: 'none',
    tag: 'Webhooks',
    summary: "Receiver of the provider's events; not called by applications",
    description: 'Echoes `Validation-Token`; events must carry the `Verification-Token` of their subscription. Answers when the message is on disk.',
    headers: z.object({ 'Validation-Token': z.string().optional(), 'Verification-Token': z.string().optional() }),
    before: async ({ gateway, request }) => demandToken(gateway, request),
    status: 200,
    response: 'empty',
    errors: { 401: [errorText('badVerificationToken')] },
    run: ({ gateway, request, bytes }) => handle(gateway, request, bytes),
  }),
]

const isHandshake = (request: Request): boolean => handshakeAnswer(request) !== null

/** The token is checked before the body is read; a bare handshake has no body worth reading. */
async function demandToken(gateway: Gateway, request: Request): Promise<void> {
  if (!isHandshake(request)) await verify(gateway, request.headers.get('verification-token'))
}

/** A handshake that also brings an event of a known subscription is both. */
async function handle(gateway: Gateway, request: Request, bytes: Uint8Array): Promise<Response> {
  const handshake = handshakeAnswer(request)
  if (handshake !== null && bytes.length === 0) return handshake
  try {
    await receive(gateway, request.headers.get('verification-token'), parseJson(bytes))
  } catch (error) {
    if (handshake === null || !(error instanceof ApiError)) throw error
  }
  return handshake ?? new Response(null, { status: 200, headers: { 'content-type': 'application/json' } })
}
