import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../../core/caller.ts'
import type { ErrorName } from '../../core/errors.ts'
import { MAX_REQUEST_ID_LENGTH } from '../../core/limits.ts'
import { countedAddress, isLoopback, parseAddress } from '../../auth/client-address.ts'
import type { LimitState } from '../../auth/key-limits.ts'
import { bounded } from '../../core/bounded.ts'
import { pathOf } from '../../core/request-path.ts'

/** A request and the server that received it. */
export interface ReceivedRequest {
  request: Request
  server: Bun.Server<unknown> | null
  /** The path of the matched endpoint, with the names of its parameters; null if none was found. */
  endpointPath: string | null
}

/** A request before its body is read. The client's address is determined only when it is needed, because that takes time. */
export class RequestContext {
  readonly requestId: string
  /**
   * The path of the matched endpoint with the names of its parameters, else that of the request. `admit` reads it, so that it checks the
   * endpoint that runs: the router and a parser may find different paths in a URL, of which the Host header is a part.
   */
  readonly endpointPath: string
  caller: Caller | null = null
  /** Set if an operator sent the request. `sessionId` is null for a command on this machine. */
  operator: { sessionId: string | null } | null = null
  /** Why an operator's request has no `caller`. Endpoints that need one return this error after the body was read. */
  callerError: ErrorName = 'missingKey'
  limit: LimitState | null = null
  /** Fields that the endpoint ignores, but that resemble one that it knows. */
  readonly ignored: string[] = []
  #socketAddress: string | null = null

  constructor(
    readonly received: ReceivedRequest,
    readonly peers: Peers,
    makeId: () => string,
  ) {
    this.requestId = requestIdOf(received.request, makeId)
    this.endpointPath = received.endpointPath ?? pathOf(received.request)
  }

  /** The path without query and trailing slash, for the log. */
  get path(): string {
    return this.endpointPath.includes(':') ? pathOf(this.received.request) : this.endpointPath
  }

  /** The socket's address. Read it before any `await`: a connection that has broken off has none. */
  get socketAddress(): string {
    const { request, server } = this.received
    return (this.#socketAddress ??= server?.requestIP(request)?.address ?? '')
  }

  /** The client's address as counted for failed attempts; IPv6 by its /64. */
  get address(): string {
    return this.peers.addressOf(this.socketAddress, this.received.request)
  }

  /** Whether the socket's address is this machine's, or among those that may speak plain HTTP. */
  get isNear(): boolean {
    return this.peers.isNearPeer(this.socketAddress)
  }

  /** Whether the client came by HTTPS. */
  get secure(): boolean {
    return this.peers.isSecure(this.socketAddress, this.received.request)
  }
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/** A caller's `X-Request-Id` is kept when it is short visible ASCII. */
function requestIdOf(request: Request, make: () => string): string {
  const own = request.headers.get('x-request-id')
  return own !== null && own.length <= MAX_REQUEST_ID_LENGTH && VISIBLE_ASCII.test(own) ? own : make()
}

/** Query parameters as sent. If a name is repeated, the last value counts. */
export function queryOf(request: Request): Record<string, string> {
  const start = request.url.indexOf('?')
  return start < 0 ? {} : Object.fromEntries(new URLSearchParams(request.url.slice(start + 1)))
}

/** How many peers are cached. Behind a proxy there is one. */
const MAX_KNOWN_PEERS = 1000

/** A parsed socket address. It is cached, because parsing takes longer than all other uses of it. */
interface Peer {
  /** Null if the text is not an IP address. */
  parsed: ipaddr.IPv4 | ipaddr.IPv6 | null
  trusted: boolean
  /** Whether it may speak plain HTTP where there is no public address. */
  near: boolean
  /** The form that counts for failed attempts if there is no forwarded address. */
  counted: string
}

/** Finds the client behind a socket. Forwarded headers count only if trusted proxies added them. */
export class Peers {
  readonly #trusted: readonly Range[]
  readonly #near: readonly Range[]
  readonly #known = new LRUCache<string, Peer>(bounded(MAX_KNOWN_PEERS))

  /** `ownOrigins`: of pages that belong to the operator's programs. */
  constructor(
    trustedProxies: readonly string[],
    plainHttpCidrs: readonly string[] = [],
    readonly ownOrigins: readonly string[] = [],
  ) {
    this.#trusted = trustedProxies.map((cidr) => ipaddr.parseCIDR(cidr))
    this.#near = plainHttpCidrs.map((cidr) => ipaddr.parseCIDR(cidr))
  }

  /**
   * The rightmost address of `X-Forwarded-For` that is not a trusted proxy, else the socket's. Pages of other sites in a browser on this machine
   * or a nearby one count separately: they may send anything, and must not block the programs there.
   */
  addressOf(socketAddress: string, request: Request): string {
    const peer = this.#peer(socketAddress)
    const forwarded = peer.trusted ? request.headers.get('x-forwarded-for') : null
    if (peer.parsed !== null && forwarded !== null) return this.#forwarded(peer.parsed, forwarded)
    return peer.near && this.#isFromOtherSite(request) ? `${peer.counted} (a page of another site)` : peer.counted
  }

  /** Browsers send the origin with every request of a page to another site that may carry a credential. */
  #isFromOtherSite({ headers }: Request): boolean {
    const origin = headers.get('origin')
    if (origin === null || this.ownOrigins.includes(origin)) return false
    return origin !== `http://${headers.get('host') ?? ''}`
  }

  #forwarded(peer: ipaddr.IPv4 | ipaddr.IPv6, header: string): string {
    let address = peer
    for (const hop of header.split(',').toReversed()) {
      if (!isIn(address, this.#trusted)) break
      const next = parseAddress(withoutPort(hop.trim()))
      if (next === null) break
      address = next
    }
    return countedAddress(address)
  }

  /**
   * Whether a trusted proxy says that the client uses TLS. This process itself speaks plain HTTP. For the upgrade to a WebSocket
   * some proxies, such as Traefik, write `wss` instead of `https`.
   */
  isSecure(socketAddress: string, { headers }: Request): boolean {
    if (!this.isTrustedPeer(socketAddress)) return false
    const protocols = (headers.get('x-forwarded-proto') ?? '').split(',')
    const protocol = protocols.at(-1)?.trim().toLowerCase()
    return protocol === 'https' || (protocol === 'wss' && headers.get('upgrade')?.toLowerCase() === 'websocket')
  }

  isTrustedPeer(socketAddress: string): boolean {
    return this.#peer(socketAddress).trusted
  }

  isNearPeer(socketAddress: string): boolean {
    return this.#peer(socketAddress).near
  }

  #peer(socketAddress: string): Peer {
    const known = this.#known.get(socketAddress)
    if (known !== undefined) return known
    const parsed = parseAddress(socketAddress)
    const peer =
      parsed === null
        ? { parsed, trusted: false, near: false, counted: socketAddress }
        : {
            parsed,
            trusted: isIn(parsed, this.#trusted),
            near: isLoopback(parsed) || isIn(parsed, this.#near),
            counted: countedAddress(parsed),
          }
    this.#known.set(socketAddress, peer)
    return peer
  }
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

const isIn = (address: ipaddr.IPv4 | ipaddr.IPv6, ranges: readonly Range[]): boolean =>
  ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits))

/** Some proxies add the client's port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]+)\](:\d{1,5})?$/.exec(hop)?.[1] ?? /^([^:]+):\d{1,5}$/.exec(hop)?.[1] ?? hop
