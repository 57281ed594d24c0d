import type { Gateway } from '../../messages/gateway.ts'
import type { RequestContext } from './request-context.ts'

/** How many peers are logged. More than this mean an attack, and the log needs no more of them. */
const MAX_PEERS = 20

/**
 * Warns once for each peer about forwarded headers from an untrusted address. That is nearly always a proxy that is missing in
 * `TRUSTED_PROXIES`, so that every request is answered "HTTPS required".
 */
export function untrustedForwarding({ config, log }: Gateway): (context: RequestContext) => void {
  const told = new Set<string>()
  return (context) => {
    if (!config.production || told.size >= MAX_PEERS || !isForwarded(context.received.request)) return
    const peer = context.socketAddress
    if (told.has(peer) || context.peers.isTrustedPeer(peer)) return
    told.add(peer)
    log.warn(
      { peer },
      'forwarded headers of an untrusted peer are ignored: if this is your proxy, name it in TRUSTED_PROXIES',
    )
  }
}

const isForwarded = ({ headers }: Request): boolean =>
  headers.has('x-forwarded-proto') || headers.has('x-forwarded-for')
