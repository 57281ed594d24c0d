import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../auth/caller.ts'
import { MAX_REQUEST_ID_LENGTH } from '../core/limits.ts'
import type { LimitState } from '../auth/key-limits.ts'
import { bounded } from '../core/bounded.ts'

/** A request, and the server that it came to. */
export interface Inquiry {
  request: Request
  server: Bun.Server<unknown> | null
  /** Of the endpoint that was found, if it has no parameters: to read the request's own takes longer than to find it. */
  path: string | null
}

/** What is known of a request before its body is read. Who sent it is only looked at where it matters: that is not free. */
export class RequestContext {
  readonly requestId: string
  /** Path without query and trailing slash. */
  readonly path: string
  caller: Caller | null = null
  limit: LimitState | null = null
  #socketAddress: string | null = null

  constructor(
    readonly inquiry: Inquiry,
    readonly peers: Peers,
    makeId: () => string,
  ) {
    this.requestId = requestIdOf(inquiry.request, makeId)
    this.path = inquiry.path ?? pathOf(inquiry.request)
  }

  /** Where the connection comes from. To be asked before anything is waited for: it is not known of one that has broken off. */
  get socketAddress(): string {
    const { request, server } = this.inquiry
    return (this.#socketAddress ??= server?.requestIP(request)?.address ?? '')
  }

  /** The client's address as counted for failed attempts; IPv6 by its /64. */
  get address(): string {
    return this.peers.addressOf(this.socketAddress, this.inquiry.request)
  }

  /** Whether the client came by HTTPS. */
  get secure(): boolean {
    return this.peers.isSecure(this.socketAddress, this.inquiry.request)
  }
}

const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/** A caller's `X-Request-Id` is kept when it is short visible ASCII. */
function requestIdOf(request: Request, make: () => string): string {
  const given = request.headers.get('x-request-id')
  return given !== null && given.length <= MAX_REQUEST_ID_LENGTH && VISIBLE_ASCII.test(given) ? given : make()
}

/** The path of a request line, whatever the Host header says. */
function pathOf(request: Request): string {
  const { url } = request
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  const path = start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** Query parameters as sent; of a repeated name the last counts. */
export function queryOf(request: Request): Record<string, string> {
  const start = request.url.indexOf('?')
  return start < 0 ? {} : Object.fromEntries(new URLSearchParams(request.url.slice(start + 1)))
}

/** How many peers are remembered: behind a proxy there is one. */
const MAX_KNOWN_PEERS = 1000

/** What is known of a socket's address. Reading one costs more than everything else that is asked of it. */
interface Peer {
  /** Null for what is no IP address. */
  parsed: ipaddr.IPv4 | ipaddr.IPv6 | null
  trusted: boolean
  /** As counted for failed attempts, if nobody is forwarded. */
  counted: string
}

/** Who is behind the socket: forwarded headers count only as far as trusted proxies vouch for them. */
export class Peers {
  readonly #trusted: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][]
  readonly #known = new LRUCache<string, Peer>(bounded(MAX_KNOWN_PEERS))

  constructor(trustedProxies: readonly string[]) {
    this.#trusted = trustedProxies.map((cidr) => ipaddr.parseCIDR(cidr))
  }

  /** The rightmost address of `X-Forwarded-For` that is not a trusted proxy, else the socket's. */
  addressOf(socketAddress: string, request: Request): string {
    const peer = this.#peer(socketAddress)
    if (peer.parsed === null || !peer.trusted) return peer.counted
    const forwarded = request.headers.get('x-forwarded-for')
    return forwarded === null ? peer.counted : this.#forwarded(peer.parsed, forwarded)
  }

  #forwarded(peer: ipaddr.IPv4 | ipaddr.IPv6, header: string): string {
    let address = peer
    for (const hop of header.split(',').toReversed()) {
      if (!this.#isTrusted(address)) break
      const next = parse(withoutPort(hop.trim()))
      if (next === null) break
      address = next
    }
    return counted(address)
  }

  /** Whether the client came by HTTPS, by the word of a trusted proxy: this process itself speaks plain HTTP. */
  isSecure(socketAddress: string, request: Request): boolean {
    if (!this.isTrustedPeer(socketAddress)) return false
    const protocols = (request.headers.get('x-forwarded-proto') ?? '').split(',')
    return protocols.at(-1)?.trim().toLowerCase() === 'https'
  }

  isTrustedPeer(socketAddress: string): boolean {
    return this.#peer(socketAddress).trusted
  }

  #peer(socketAddress: string): Peer {
    const known = this.#known.get(socketAddress)
    if (known !== undefined) return known
    const parsed = parse(socketAddress)
    const peer =
      parsed === null
        ? { parsed, trusted: false, counted: socketAddress }
        : { parsed, trusted: this.#isTrusted(parsed), counted: counted(parsed) }
    this.#known.set(socketAddress, peer)
    return peer
  }

  #isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    return this.#trusted.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits))
  }
}

/** Some proxies add the client's port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]+)\](:\d{1,5})?$/.exec(hop)?.[1] ?? /^([^:]+):\d{1,5}$/.exec(hop)?.[1] ?? hop

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null
}

/** One subscriber usually has a whole IPv6 /64: it counts as one address. */
function counted(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (address.kind() === 'ipv4') return address.toString()
  const head = (address as ipaddr.IPv6).parts.slice(0, 4)
  return `${head.map((part) => part.toString(16)).join(':')}::/64`
}
