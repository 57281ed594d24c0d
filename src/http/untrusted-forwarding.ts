import type { Gateway } from '../gateway.ts'
import type { RequestContext } from './request-context.ts'

/** Peers that are told of; beyond them it is an attack, and the log has seen enough. */
const MAX_PEERS = 20

/**
 * Says loudly, once for each peer, that forwarded headers come from an address that is not trusted: nearly always a
 * proxy that nobody named in `TRUSTED_PROXIES`, so that every request is answered "HTTPS required".
 */
export function untrustedForwarding({ config, log }: Gateway): (context: RequestContext) => void {
  const told = new Set<string>()
  return (context) => {
    if (!config.production || told.size >= MAX_PEERS || !isForwarded(context.inquiry.request)) return
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
