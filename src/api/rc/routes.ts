import { jsonAnswer } from '../../core/json-answer.ts'
import { z } from 'zod'
import { errorText, errorTexts } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { prefersPage } from '../http/prefers-page.ts'
import { Done } from '../http/done.ts'
import { route } from '../http/route.ts'
import { isOauthWord } from '../../provider/oauth-words.ts'
import { bindingCookie, createConfirmation, isConfirmed, isOtherBrowser, isOwnForm } from './browser-binding.ts'
import { type LoginResult, completeConnect } from './complete-connect.ts'
import { type Authorization, CALLBACK_PATH, isTokenError, readConnectToken, startConnect } from './connect.ts'
import { disconnect, disconnectExtension } from './disconnect.ts'
import { ExtensionsHealth, getHealth } from './get-health.ts'
import { ConnectionStatus, getConnection } from './get-connection.ts'
import { issueToken } from './issue-token.ts'
import { ExtensionList, listExtensions } from './list-extensions.ts'
import { logRefusedState, readStateTenant, consumeState } from './oauth-state.ts'
import { confirmPage, connectResultPage, declinedPage, otherBrowserPage, tokenErrorPage } from './pages.ts'

const tag = 'Provider connection'
const common = { auth: 'app', tag } as const
const ConnectUrl = z
  .object({
    connectUrl: z.string().meta({ description: 'A path: prepend the base address', example: '/v1/rc/connect?token=…' }),
  })
  .meta({ id: 'ConnectLink' })
const optionalText = z.string().optional()
const CallbackQuery = z.object({
  code: optionalText.meta({ description: "The provider's authorization code", example: 'U0pDMTFQMDE' }),
  state: optionalText.meta({ description: 'As the gateway gave it to the provider', example: 'q7Zk1vRt' }),
  error: optionalText.meta({ description: 'Why the provider did not authorize', example: 'access_denied' }),
  format: optionalText.meta({ description: '`json` for an answer without a page', example: 'json' }),
  confirm: optionalText.meta({
    example: 'k3Vb9sWx',
    description: 'Sent by the page that asks a browser that did not start the authorization',
  }),
})
const tokenErrors = { 400: errorTexts('missingToken', 'badToken') }

export const rcRoutes = [
  route({
    ...common,
    operationId: 'createConnectLink',
    method: 'POST',
    path: '/v1/rc/connect-token',
    summary: 'Make a link that connects an extension, valid for 5 minutes',
    secret: true,
    response: ConnectUrl,
    run: ({ gateway, caller }) => issueToken(gateway, caller, 'connect'),
  }),
  route({
    ...common,
    operationId: 'createInviteLink',
    method: 'POST',
    path: '/v1/rc/invite-token',
    summary:
      'Make a link to send to the owner of an extension, valid for 7 days unless INVITE_TOKEN_TTL says otherwise',
    secret: true,
    response: ConnectUrl,
    run: ({ gateway, caller }) => issueToken(gateway, caller, 'invite'),
  }),
  route({
    operationId: 'showConnectPage',
    internal: true,
    method: 'GET',
    path: '/v1/rc/connect',
    auth: 'none',
    tag,
    summary: 'The confirmation page; does not consume the token',
    query: z.object({ token: optionalText.meta({ description: 'Of the link', example: 'c2d9Qm3xT9aL' }) }),
    response: 'html',
    errors: tokenErrors,
    run: ({ gateway, query, context }) =>
      orTokenPage(async () => confirmPage(gateway, await readConnectToken(gateway, query.token, context.requestId))),
  }),
  route({
    operationId: 'startConnect',
    internal: true,
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
    run: ({ gateway, body, request, context }) =>
      orTokenPage(async () => toLogin(gateway, request, await startConnect(gateway, body.token, context.requestId))),
  }),
  route({
    operationId: 'finishConnect',
    internal: true,
    method: 'GET',
    path: CALLBACK_PATH,
    auth: 'none',
    tag,
    summary: "The redirect address of the provider's login",
    description:
      'Returns a page, or JSON with `format=json`. A browser that did not start the authorization first gets a page that asks for confirmation.',
    query: CallbackQuery,
    mayWait: true,
    response: 'html',
    json: Done,
    errors: { 400: errorTexts('missingCodeOrState', 'badToken'), 502: ['The provider did not answer as it should'] },
    run: ({ gateway, query, request, context }) => callback(gateway, query, request, context.requestId),
  }),
  route({
    ...common,
    operationId: 'getConnection',
    method: 'GET',
    path: '/v1/rc/status',
    summary: 'Whether the tenant is connected',
    response: ConnectionStatus,
    run: ({ gateway, caller }) => getConnection(gateway, caller),
  }),
  route({
    ...common,
    operationId: 'listExtensions',
    method: 'GET',
    path: '/v1/rc/extensions',
    summary: 'Connected extensions and their numbers',
    response: ExtensionList,
    run: ({ gateway, caller }) => listExtensions(gateway, caller),
  }),
  route({
    ...common,
    operationId: 'getExtensionsHealth',
    method: 'GET',
    path: '/v1/rc/extensions/health',
    summary: 'What is wrong with each connected extension, and what to do about it',
    mayWait: true,
    response: ExtensionsHealth,
    run: ({ gateway, caller }) => getHealth(gateway, caller),
  }),
  route({
    ...common,
    operationId: 'disconnectExtension',
    method: 'DELETE',
    path: '/v1/rc/extensions/:extensionId',
    summary: 'Disconnect one extension; the others stay connected',
    params: z.object({ extensionId: z.string().meta({ description: 'The extension', example: '629890016' }) }),
    mayWait: true,
    response: Done,
    errors: { 404: errorTexts('extensionNotFound') },
    run: ({ gateway, caller, params }) => disconnectExtension(gateway, caller, params.extensionId),
  }),
  route({
    ...common,
    operationId: 'disconnect',
    method: 'POST',
    path: '/v1/rc/disconnect',
    summary: 'Disconnect the tenant: nothing is sent or received until an extension is connected again',
    mayWait: true,
    response: Done,
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

function toLogin(gateway: Gateway, request: Request, { url, state }: Authorization): Response {
  const headers = new Headers({ location: url, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  if (isOwnForm(request)) headers.set('set-cookie', bindingCookie(gateway, state))
  return new Response(null, { status: 303, headers })
}

type Query = z.output<typeof CallbackQuery>

async function callback(gateway: Gateway, query: Query, request: Request, requestId: string): Promise<Response> {
  const { code, state, confirm } = query
  const asJson = query.format === 'json'
  if (query.error !== undefined && query.error !== '') return declined(gateway, query, requestId)
  if (code === undefined || state === undefined || code === '' || state === '') return missingParameter(asJson, request)
  if (isOtherBrowser(gateway, request, state) && !isConfirmed(gateway, request, state, confirm))
    return askBrowser(gateway, { code, state, format: query.format ?? '' }, requestId)
  return answerOf(await completeConnect(gateway, { code, state, requestId }), asJson)
}

/** Asks the person before anything is used. An invalid state is refused immediately. */
async function askBrowser(
  gateway: Gateway,
  fields: { code: string; state: string; format: string },
  requestId: string,
): Promise<Response> {
  const tenantName = await readStateTenant(gateway, fields.state)
  if (tenantName === null) {
    await logRefusedState(gateway, fields.state, requestId)
    return answerOf({ type: 'bad_state' }, fields.format === 'json')
  }
  gateway.log.warn({ requestId }, 'the authorization was started in another browser: the person is asked')
  const { cookie, confirm } = createConfirmation(gateway, fields.state)
  return otherBrowserPage(tenantName, { ...fields, confirm }, cookie)
}

function answerOf(result: LoginResult, asJson: boolean): Response {
  const answer = connectResultPage(result)
  if (!asJson) return answer
  if (result.type === 'connected') return jsonAnswer({ ok: true })
  return jsonAnswer({ error: JSON_ERRORS[result.type] }, { status: answer.status })
}

async function declined(
  gateway: Gateway,
  { state = '', error = '', format }: Query,
  requestId: string,
): Promise<Response> {
  const used = state === '' ? null : await consumeState(gateway, state)
  const word = isOauthWord(error) ? error : 'other'
  gateway.log.warn({ requestId, tenantId: used?.tenantId, error: word }, 'authorization was declined at the provider')
  return format === 'json' ? jsonAnswer({ error: 'Not connected' }, { status: 400 }) : declinedPage(word)
}

const JSON_ERRORS = {
  bad_state: errorText('badToken'),
  connected_before: errorText('badToken'),
  exchange_failed: 'The provider did not answer as it should',
  other_account: 'Another account is connected',
} as const

function missingParameter(asJson: boolean, request: Request): Response {
  const message = errorText('missingCodeOrState')
  return !asJson && prefersPage(request) ? tokenErrorPage(message) : jsonAnswer({ error: message }, { status: 400 })
}
