import { apiError } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { isHomeHost } from '../../auth/home-host.ts'
import type { RequestContext } from './request-context.ts'
import { comesThroughProxy, isFromThisMachine } from './this-machine.ts'

/** A load balancer on the same network asks them directly. */
export const ALLOWED_WITHOUT_HTTPS: readonly string[] = ['/health', '/ready']

/** Their bodies have a lasting credential, which no network may see, not even a developer's. */
const NEVER_ON_A_NETWORK: readonly string[] = ['/v1/operator/extensions']

/** How many reasons are logged. More than this mean an attack, and the log needs no more of them. */
const MAX_LOGGED = 20

/**
 * The first check of every request: production throws `httpsRequired` if it did not come by HTTPS. Without a public address, this machine and
 * `PLAIN_HTTP_CIDRS` may use plain HTTP, and `Host` must be a local name. The log has each reason of a refusal once.
 */
export function httpsRule({ config, log }: Gateway): (context: RequestContext) => void {
  const told = new Set<string>()
  const tell = (peer: string, reason: string): void => {
    if (told.size >= MAX_LOGGED || told.has(`${peer} ${reason}`)) return
    told.add(`${peer} ${reason}`)
    log.warn({ peer }, `plain HTTP is refused: ${reason}`)
  }
  return (context) => {
    if (NEVER_ON_A_NETWORK.includes(context.endpointPath) && !context.secure && !isFromThisMachine(context))
      throw apiError('httpsRequired')
    if (!config.production || ALLOWED_WITHOUT_HTTPS.includes(context.endpointPath)) return
    if (config.hasPublicUrl && !context.secure) throw apiError('httpsRequired')
    const reason = config.hasPublicUrl ? null : whyNot(context)
    if (reason === null) return
    tell(context.socketAddress, reason)
    throw apiError('httpsRequired')
  }
}

/**
 * Why a gateway without a public address refuses this client; null if it does not. A trusted proxy's claim of HTTPS does not excuse a wrong
 * Host: if the proxy is on this machine, a page in a browser here can make the same claim.
 */
function whyNot(context: RequestContext): string | null {
  const { request } = context.received
  const isHome = isHomeHost(request.headers.get('host') ?? '')
  if (context.secure) return isHome ? null : `${NEEDS_HOME_HOST}; with PUBLIC_URL a proxy may pass on any name`
  if (!context.isNear)
    return 'without PUBLIC_URL it is allowed only for this machine and PLAIN_HTTP_CIDRS, which lack this address'
  if (comesThroughProxy(request)) return 'a proxy forwarded the request, so its client is another machine'
  return isHome ? null : NEEDS_HOME_HOST
}

const NEEDS_HOME_HOST =
  'its Host must be localhost, an address, a name without a dot, or a name in .local or .home.arpa'
