import { z } from 'zod'
import type { Subscription } from '../../auth/subscription-tokens.ts'
import { ApiError, errorTexts } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { parseJson } from '../http/body.ts'
import { route } from '../http/route.ts'
import { receive, verify } from './receive.ts'

export const webhooksRoutes = [
  route({
    operationId: 'receiveProviderEvent',
    internal: true,
    method: 'POST',
    path: '/v1/webhooks/provider',
    auth: 'none',
    tag: 'Webhooks',
    summary: "Receiver of the provider's events; not called by applications",
    description:
      'Repeats `Validation-Token` in its answer. Events must carry the token of their subscription in `Verification-Token`, or in `Validation-Token`. The answer comes when the message is on disk.',
    headers: z.object({
      'Validation-Token': z
        .string()
        .optional()
        .meta({ description: 'Of a handshake, or of an event', example: '6d9f2c81' }),
      'Verification-Token': z.string().optional().meta({ description: 'Of an event', example: 'b81c07d4' }),
    }),
    before: ({ gateway, request }) => subscriptionOf(gateway, request),
    response: 'empty',
    answerHeaders: ['Validation-Token'],
    errors: { 400: errorTexts('badJson'), 401: errorTexts('badVerificationToken') },
    run: ({ gateway, request, bytes, beforeResult }) =>
      handle(gateway, request, bytes, beforeResult as Subscription | null),
  }),
]

const verificationToken = (request: Request): string | null => request.headers.get('verification-token')

/** The token of an event that carries the header of the handshake. */
const eventToken = (request: Request): string | null =>
  verificationToken(request) ?? request.headers.get('validation-token')

/** Checks the token of an event before the body is read. Null for a handshake. */
const subscriptionOf = (gateway: Gateway, request: Request): Subscription | Promise<Subscription> | null =>
  handshakeAnswer(request) === null ? verify(gateway, verificationToken(request)) : null

/**
 * An event may also carry `Validation-Token`: RingCentral's guide names it as the header of an event's token. Such a request is always answered
 * as a handshake; its event is stored if its token is good.
 */
async function handle(
  gateway: Gateway,
  request: Request,
  bytes: Uint8Array,
  subscription: Subscription | null,
): Promise<Response> {
  const handshake = handshakeAnswer(request)
  if (handshake !== null && bytes.length === 0) return handshake
  try {
    await receive(gateway, subscription ?? (await verify(gateway, eventToken(request))), parseJson(bytes))
  } catch (error) {
    if (handshake === null || !(error instanceof ApiError)) throw error
  }
  return handshake ?? new Response(null, { status: 200 })
}

const MAX_TOKEN_LENGTH = 450
const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/**
 * Answers the provider's handshake while it creates a subscription: an empty 200 that repeats the `Validation-Token`
 * header. The answer may have at most 1024 bytes with its headers (RingCentral: "Receiving webhook notifications").
 */
function handshakeAnswer(request: Request): Response | null {
  const token = request.headers.get('validation-token')
  if (token === null || token === '') return null
  if (token.length > MAX_TOKEN_LENGTH || !VISIBLE_ASCII.test(token)) return null
  return new Response(null, { status: 200, headers: { 'validation-token': token, 'content-type': 'application/json' } })
}
