import { errorText } from '../../core/errors.ts'
import type { Gateway } from '../../gateway.ts'
import { html, page } from '../../http/html.ts'
import type { Connection } from './complete-connect.ts'
import type { readConnectToken } from './connect.ts'

/** The page that asks before it connects: one button, which posts the token back. */
export function confirmPage(
  gateway: Gateway,
  { token, tenantName }: Awaited<ReturnType<typeof readConnectToken>>,
): Response {
  return page({
    status: 200,
    title: 'Connect your phone extension',
    // The way back leads to the public address, by whatever name this page was opened.
    formTargets: ["'self'", new URL(gateway.config.publicUrl).origin, ...loginHosts(gateway)],
    content: html`<p>You are about to let <b>${tenantName}</b> send and receive text messages with your RingCentral extension.</p>
      <p>It will be able to read your extension's phone numbers, send SMS from them, and read SMS that you receive.</p>
      <form method="post" action="connect"><input type="hidden" name="token" value="${token}"><button>Connect</button></form>`,
  })
}

const errorPage = (status: number, title: string, advice: string): Response =>
  page({ status, title, content: html`<p>${advice}</p>` })

export const tokenErrorPage = (message: string): Response =>
  errorPage(400, message, 'Ask for a new link: each one can be used once and for a limited time.')

export const declinedPage = (description: string | undefined): Response =>
  errorPage(
    400,
    'Not connected',
    `The provider says: ${(description ?? 'access denied').replaceAll('+', ' ').slice(0, 200)}`,
  )

export function connectionPage(connection: Connection): Response {
  switch (connection.type) {
    case 'bad_state':
      return errorPage(
        400,
        errorText('badToken'),
        'This authorization was used before, or took too long. Start again with a new link.',
      )
    case 'exchange_failed':
      return errorPage(
        502,
        'The provider did not answer as it should',
        'Nothing was connected. Start again with a new link in a few minutes.',
      )
    case 'other_account':
      return errorPage(
        400,
        'Another account is connected',
        'This extension belongs to another RingCentral account than the one that is connected. Disconnect that one first.',
      )
    case 'connected':
      return connectedPage(connection)
  }
}

function connectedPage(connection: Extract<Connection, { type: 'connected' }>): Response {
  const numbers =
    connection.phoneNumbers.length === 0
      ? 'No SMS-capable number was found yet; it is looked for again when you send.'
      : connection.phoneNumbers.join(', ')
  const receiving = connection.receiving
    ? 'Incoming messages will arrive.'
    : 'Receiving is not set up yet; this is tried again in the background.'
  return page({
    status: 200,
    title: 'Connected',
    content: html`<p>${connection.name} can now send text messages.</p><p>${numbers}</p><p>${receiving}</p><p>You can close this window.</p>`,
  })
}

/** The provider's authorization address redirects on to its login pages. */
function loginHosts(gateway: Gateway): string[] {
  const origin = new URL(gateway.config.provider.serverUrl).origin
  const family = /\.(ringcentral\.(?:com|biz))$/.exec(new URL(origin).hostname)
  return family === null ? [origin] : [origin, `https://*.${family[1]}`]
}
