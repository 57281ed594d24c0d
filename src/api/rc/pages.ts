import { errorText } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { html, page } from '../http/html.ts'
import type { LoginResult } from './complete-connect.ts'
import type { readConnectToken } from './connect.ts'

/** The page that asks for consent: one button, which posts the token back. */
export function confirmPage(
  gateway: Gateway,
  { token, tenantName }: Awaited<ReturnType<typeof readConnectToken>>,
): Response {
  const { publicUrl, provider } = gateway.config
  return page({
    status: 200,
    title: 'Connect your phone extension',
    formTargets: ["'self'", ...anyHost(publicUrl), new URL(publicUrl).origin, new URL(provider.serverUrl).origin],
    content: html`<p>You are about to let <b>${tenantName}</b> send and receive text messages with your RingCentral extension.</p>
      ${PERMISSIONS}
      <form method="post" action="connect"><input type="hidden" name="token" value="${token}"><button>Connect</button></form>`,
  })
}

/** The page for a browser that did not start this authorization. Another person may have started it. */
export function otherBrowserPage(
  tenantName: string,
  fields: Readonly<Record<string, string>>,
  cookie: string,
): Response {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const answer = page({
    status: 200,
    title: 'Is this your connection?',
    formTargets: ["'self'"],
    content: html`<p>You logged in at RingCentral, but the connection was started in another browser. If you continue, <b>${tenantName}</b> can send and receive text messages with your RingCentral extension.</p>
      ${PERMISSIONS}
      <p>If you did not start it yourself, close this window, and nothing is connected.</p>
      <form method="get" action="callback">${{ html: inputs.map((input) => input.html).join('') }}<button>Connect to ${tenantName}</button></form>`,
  })
  answer.headers.append('set-cookie', cookie)
  return answer
}

const PERMISSIONS = html`<p>It will be able to read your extension's phone numbers, send SMS from them, and read SMS that you receive.</p>`

const errorPage = (status: number, title: string, advice: string): Response =>
  page({ status, title, content: html`<p>${advice}</p>` })

export const tokenErrorPage = (message: string): Response =>
  errorPage(400, message, 'Ask for a new link: each one can be used once and for a limited time.')

/** `error` is an error code of RFC 6749. The page shows no other text from the query, because anybody can write a link. */
export const declinedPage = (error: string): Response =>
  errorPage(400, 'Not connected', `${DECLINED[error] ?? NOT_AUTHORIZED} Nothing was connected.`)

const NOT_AUTHORIZED = 'RingCentral did not authorize the connection. Start again with a new link.'
const WRONG_SETTINGS =
  'The RingCentral app is not set up for this connection: compare its settings with the manual, then start again with a new link.'
const TRY_LATER = 'RingCentral could not log you in. Start again with a new link in a few minutes.'

const DECLINED: Readonly<Record<string, string>> = {
  access_denied: 'The login was cancelled, or access was not allowed. Start again with a new link.',
  invalid_request: WRONG_SETTINGS,
  invalid_scope: WRONG_SETTINGS,
  unauthorized_client: WRONG_SETTINGS,
  unsupported_response_type: WRONG_SETTINGS,
  server_error: TRY_LATER,
  temporarily_unavailable: TRY_LATER,
}

export function connectResultPage(result: LoginResult): Response {
  switch (result.type) {
    case 'bad_state':
      return errorPage(
        400,
        errorText('badToken'),
        'This authorization was used before, or took too long. Unless you have seen that your extension is connected, start again with a new link.',
      )
    case 'connected_before':
      return errorPage(
        400,
        'Already connected',
        'Your extension was connected when this page first loaded. You can close this window.',
      )
    case 'exchange_failed':
      return page({
        status: 502,
        title: 'The provider did not answer as it should',
        content: html`<p>${result.fix}</p><p>Nothing was connected. Start again with a new link.</p>`,
      })
    case 'other_account':
      return errorPage(
        400,
        'Another account is connected',
        'This extension belongs to a different RingCentral account than the connected one. Disconnect that account first.',
      )
    case 'connected':
      return connectedPage(result)
  }
}

function connectedPage(result: Extract<LoginResult, { type: 'connected' }>): Response {
  const numbers =
    result.phoneNumbers.length === 0
      ? 'No SMS-capable number was found yet. The gateway checks again when you send.'
      : result.phoneNumbers.join(', ')
  const receiving = result.receiving
    ? 'Incoming messages will arrive.'
    : 'Receiving is not set up yet; the gateway tries again in the background.'
  const fixes = result.fixes.map((fix) => html`<p><b>${fix}</b></p>`.html).join('')
  return page({
    status: 200,
    title: 'Connected',
    content: html`<p>${result.name} can now send text messages.</p><p>${numbers}</p><p>${receiving}</p>${{ html: fixes }}<p>You can close this window.</p>`,
  })
}

/**
 * The schemes that `form-action` must allow. Browsers check it against every redirect that follows the form, and the
 * provider's login may redirect to any host, such as a customer's single sign-on. The page has no script, and its one
 * form has a fixed address.
 */
const anyHost = (publicUrl: string): string[] =>
  new URL(publicUrl).protocol === 'https:' ? ['https:'] : ['https:', 'http:']
