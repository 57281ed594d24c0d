import { isLoopback, parseAddress } from '../../auth/client-address.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Names of headers that only proxies, tunnels and content networks add: the client is another machine. The first line has what
 * most of them use, such as `X-Forwarded-For`, `X-Real-IP` and `True-Client-IP`, the others what single vendors do.
 */
const BY_PROXIES = new RegExp(
  [
    'forwarded|client-?ip|real-ip|remote-(addr|ip)|proxy|^via$|^x-original-',
    '^(cf|cdn|fly|fastly|akamai|tailscale|ngrok)-',
    '^x-(url-)?scheme$|^front-end-https$',
    '^x-(envoy|amzn?|azure|appengine|cloud|vercel|nf|akamai|arr|tunnel)-|^x-varnish$',
  ].join('|'),
)

/** Whether the client runs on this machine: a loopback address, and no proxy in between. */
export const isFromThisMachine = (context: RequestContext): boolean =>
  isLoopback(parseAddress(context.socketAddress)) && !comesThroughProxy(context.received.request)

/** Whether something in between has added a header, so that the socket is not the client's. */
export const comesThroughProxy = ({ headers }: Request): boolean =>
  [...headers.keys()].some((name) => BY_PROXIES.test(name))

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/

/**
 * Whether a page of this gateway, opened on this machine, sent the request. A page of another site has another `Origin`. If its
 * name was made to resolve to 127.0.0.1 (DNS rebinding), the `Host` is that name. Programs send no `Origin`.
 */
export function isFromOwnPage(context: RequestContext): boolean {
  const { headers } = context.received.request
  const host = headers.get('host') ?? ''
  const site = headers.get('sec-fetch-site')
  return (
    isFromThisMachine(context) &&
    LOOPBACK_HOST.test(host) &&
    headers.get('origin') === `http://${host}` &&
    (site === null || site === 'same-origin')
  )
}
