import { z } from 'zod'
import { errorText } from '../../core/errors.ts'
import type { Gateway } from '../../gateway.ts'
import { prefersPage } from '../../http/prefers-page.ts'
import { route } from '../../http/route.ts'
import { completeConnect, useState } from './complete-connect.ts'
import { CALLBACK_PATH, isTokenError, readConnectToken, startConnect } from './connect.ts'
import { disconnect } from './disconnect.ts'
import { ConnectionStatus, getConnection } from './get-connection.ts'
import { issueToken } from './issue-token.ts'
import { ConnectedExtension, listExtensions } from './list-extensions.ts'
import { confirmPage, connectionPage, declinedPage, tokenErrorPage } from './pages.ts'

const tag = 'Provider connection'
const ConnectUrl = z.object({ connectUrl: z.string().meta({ description: 'A path: prepend the base address' }) })
const given = z.string().optional()
const CallbackQuery = z.object({ code: given, state: given, error: given, error_description: given, format: given })
const tokenErrors = { 400: [errorText('missingToken'), errorText('badToken')] }

export const rcRoutes = [
  route({
    method: 'POST',
    path: '/v1/rc/connect-token',
    auth: 'app',
    tag,
    summary: 'A link to connect an extension with, for about 5 minutes',
    status: 200,
    response: ConnectUrl,
    run: ({ gateway, caller }) => issueToken(gateway, caller, 'connect'),
  }),
  route({
    method: 'POST',
    path: '/v1/rc/invite-token',
    auth: 'app',
    tag,
    summary: 'A link to send to the owner of an extension; lives longer',
    status: 200,
    response: ConnectUrl,
    run: ({ gateway, caller }) => issueToken(gateway, caller, 'invite'),
  }),
  route({
    method: 'GET',
    path: '/v1/rc/connect',
    auth: 'none',
    tag,
    summary: 'The confirmation page; does not consume the token',
    query: z.object({ token: given }),
    status: 200,
    response: 'html',
    errors: tokenErrors,
    run: ({ gateway, query }) =>
      orTokenPage(async () => confirmPage(gateway, await readConnectToken(gateway, query.token))),
  }),
  route({
    method: 'POST',
    path: '/v1/rc/connect',
    auth: 'none',
    tag,
    summary: "Consumes the token and leads to the provider's login",
    body: z.object({ token: z.string().optional().catch(undefined) }).catch({ token: undefined }),
    bodyType: 'form',
    status: 303,
    response: 'redirect',
    errors: tokenErrors,
    run: ({ gateway, body }) => orTokenPage(async () => redirect(await startConnect(gateway, body.token))),
  }),
  route({
    method: 'GET',
    path: CALLBACK_PATH,
    auth: 'none',
    tag,
    summary: "Where the provider's login comes back to",
    description: 'Answers a page, or JSON with `format=json`.',
    query: CallbackQuery,
    slow: true,
    status: 200,
    response: 'html',
    errors: {
      400: [errorText('missingCodeOrState'), errorText('badToken')],
      502: ['The provider did not answer as it should'],
    },
    run: ({ gateway, query, request }) => callback(gateway, query, request),
  }),
  route({
    method: 'GET',
    path: '/v1/rc/status',
    auth: 'app',
    tag,
    summary: 'Whether the tenant is connected',
    status: 200,
    response: ConnectionStatus,
    run: ({ gateway, caller }) => getConnection(gateway, caller),
  }),
  route({
    method: 'GET',
    path: '/v1/rc/extensions',
    auth: 'app',
    tag,
    summary: 'Connected extensions and their numbers',
    status: 200,
    response: z.object({ extensions: z.array(ConnectedExtension) }),
    run: ({ gateway, caller }) => listExtensions(gateway, caller),
  }),
  route({
    method: 'POST',
    path: '/v1/rc/disconnect',
    auth: 'app',
    tag,
    summary: 'End the connection: nothing is sent or received until someone connects again',
    slow: true,
    status: 200,
    response: z.object({ ok: z.literal(true) }),
    run: ({ gateway, caller }) => disconnect(gateway, caller),
  }),
]

async function orTokenPage(make: () => Promise<Response>): Promise<Response> {
  try {
    return await make()
  } catch (error) {
    if (isTokenError(error)) return tokenErrorPage(error.message)
    throw error
  }
}

const redirect = (location: string): Response =>
  new Response(null, {
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  })

async function callback(gateway: Gateway, query: z.output<typeof CallbackQuery>, request: Request): Promise<Response> {
  const { code, state, error } = query
  const asJson = query.format === 'json'
  if (error !== undefined && error !== '') {
    const ours = state !== undefined && state !== '' && (await useState(gateway, state)) !== null
    // Without a state of ours anybody could have written the link, and would put words into this page's mouth.
    return asJson
      ? Response.json({ error: 'Not connected' }, { status: 400 })
      : declinedPage(ours ? query.error_description : undefined)
  }
  if (code === undefined || state === undefined || code === '' || state === '') return missingParameter(asJson, request)
  const connection = await completeConnect(gateway, code, state)
  const answer = connectionPage(connection)
  if (!asJson) return answer
  if (connection.type === 'connected') return Response.json({ ok: true })
  return Response.json({ error: JSON_ERRORS[connection.type] }, { status: answer.status })
}

const JSON_ERRORS = {
  bad_state: errorText('badToken'),
  exchange_failed: 'The provider did not answer as it should',
  other_account: 'Another account is connected',
} as const

function missingParameter(asJson: boolean, request: Request): Response {
  const message = errorText('missingCodeOrState')
  return !asJson && prefersPage(request) ? tokenErrorPage(message) : Response.json({ error: message }, { status: 400 })
}
