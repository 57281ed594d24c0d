import { z } from 'zod'
import { proxyFor } from '../../core/proxy.ts'
import type { EventSocket, EventSocketRequest } from '../event-socket.ts'
import { FILTER_REFUSED } from '../provider-subscription.ts'
import type { ProviderFailure, ProviderResult } from '../provider.ts'
import { networkFailure, ownFailure } from './errors.ts'
import type { Requester, RingCentralOptions } from './request.ts'
import { SocketConnection } from './socket-connection.ts'
import { FILTERS, SUBSCRIPTION_PATH, subscriptionPath, subscriptionSchema } from './subscription.ts'
import { optionalText, wireSeconds } from './wire-text.ts'

type Options = Pick<RingCentralOptions, 'timeoutMs' | 'userAgent' | 'ca' | 'proxy'>

/** Opens a socket with a ticket of `POST /restapi/oauth/wstoken`, which is valid for one connection, and subscribes over it. */
export async function openEventSocket(
  requester: Requester,
  { timeoutMs, userAgent, ca, proxy = null }: Options,
  accessToken: string,
  request: EventSocketRequest,
): Promise<ProviderResult<EventSocket>> {
  const call = { method: 'POST', path: '/restapi/oauth/wstoken', as: { accessToken } } as const
  const ticket = await requester.read(call, ticketSchema)
  if (!ticket.ok) return { ok: false, failure: namingPermission(ticket.failure) }
  const url = addressOf(ticket.value, requester.address, request.recovery?.token ?? null)
  if (url === null) return { ok: false, failure: UNUSABLE_ADDRESS }
  const options = { timeoutMs, userAgent, proxy: proxyFor(proxy, url), ...(ca === undefined ? {} : { ca }) }
  const opening = openingOf(url, options, request)
  return opening === null ? { ok: false, failure: UNUSABLE_ADDRESS } : opening.run()
}

function openingOf(...given: ConstructorParameters<typeof Opening>): Opening | null {
  try {
    return new Opening(...given)
  } catch {
    // The error's message contains the address with its credential.
    return null
  }
}

const ticketSchema = z.looseObject({ uri: z.string(), ws_access_token: z.string().min(1) })

const UNUSABLE_ADDRESS = ownFailure('ambiguous', "The address of the provider's WebSocket gateway is unusable")

/** The gateway's address with the ticket, which must not leave this machine unencrypted; null if it would. */
function addressOf(ticket: z.infer<typeof ticketSchema>, server: string, recoveryToken: string | null): URL | null {
  const url = URL.parse(ticket.uri)
  if (url?.protocol !== (server.startsWith('https:') ? 'wss:' : 'ws:')) return null
  url.searchParams.set('access_token', ticket.ws_access_token)
  if (recoveryToken !== null) url.searchParams.set('wsc', recoveryToken)
  return url
}

/** The guide, its sample and the OpenAPI name three forms of this permission; the developer console has the first. */
const namingPermission = (failure: ProviderFailure): ProviderFailure =>
  failure.status === 403 && failure.code !== USER_LACKS_PERMISSION
    ? { ...failure, permission: 'WebSocketsSubscription' }
    : failure
const USER_LACKS_PERMISSION = 'CMN-408'

/** The documented values, in case the provider's gateway omits them. */
const LIFE_SECONDS = 86_400
const RECOVERY_SECONDS = 180
/** If the provider refuses it by refusing the connection, it must not be retried forever. */
const MAX_RECOVERY_SECONDS = 3600

const detailsSchema = z
  .looseObject({
    recoveryState: optionalText,
    absoluteTimeout: wireSeconds(LIFE_SECONDS),
    recoveryTimeout: z.number().nonnegative().max(MAX_RECOVERY_SECONDS).catch(RECOVERY_SECONDS),
  })
  .catch({ recoveryState: undefined, absoluteTimeout: LIFE_SECONDS, recoveryTimeout: RECOVERY_SECONDS })
type Details = z.infer<typeof detailsSchema>

/** A dead connection is detected within 75 s, however long a call may take. */
const HEARTBEAT_ANSWER_MS = 15_000

/** From the connection to the subscription. */
class Opening {
  readonly #connection: SocketConnection
  #isOpen = false
  /** Whether the provider's gateway has confirmed the subscription over this connection. */
  #hasSaidYes = false

  constructor(
    url: URL,
    readonly options: ConstructorParameters<typeof SocketConnection>[1],
    readonly request: EventSocketRequest,
  ) {
    const { frame, event, ended } = request
    this.#connection = new SocketConnection(url, options, {
      frame,
      event,
      ended: (why) => {
        if (this.#isOpen) ended(why)
      },
    })
  }

  async run(): Promise<ProviderResult<EventSocket>> {
    const abort = (): void => this.#connection.end()
    this.request.signal.addEventListener('abort', abort)
    if (this.request.signal.aborted) abort()
    const opened = await this.#open()
    this.request.signal.removeEventListener('abort', abort)
    // It may have ended after its last answer.
    const result = this.#connection.hasEnded && opened.ok ? { ok: false as const, failure: ENDED } : opened
    if (!result.ok) this.#connection.end()
    this.#isOpen = result.ok
    return result
  }

  async #open(): Promise<ProviderResult<EventSocket>> {
    const greeted = await this.#connection.details()
    if ('failure' in greeted) return { ok: false, failure: greeted.failure }
    const details = detailsSchema.parse(greeted.body)
    const old = details.recoveryState === 'Successful' ? this.request.recovery : null
    if (old !== null) return { ok: true, value: this.#socket(old.subscriptionId, details, true) }
    const subscribed = await this.#subscribe()
    return subscribed.ok ? { ok: true, value: this.#socket(subscribed.value, details, false) } : subscribed
  }

  async #subscribe(): Promise<ProviderResult<string>> {
    const body = { eventFilters: [FILTERS[this.request.topic]], deliveryMode: { transportType: 'WebSocket' } }
    const answer = await this.#connection.ask({ type: 'ClientRequest', method: 'POST', path: SUBSCRIPTION_PATH }, body)
    if ('failure' in answer) return { ok: false, failure: answer.failure }
    const { status, type } = answer.meta
    if (type === 'Error' || status < 200 || status > 299)
      return { ok: false, failure: { permission: 'ReadMessages', ...this.#connection.refusalOf(answer) } }
    const made = subscriptionSchema.safeParse(answer.body).data
    if (made === undefined) return { ok: false, failure: UNREADABLE }
    if (made.status === 'Active' && made.disabledFilters === 0) return { ok: true, value: made.subscriptionId }
    return { ok: false, failure: { ...NOT_ACTIVE, code: made.disabledFilters > 0 ? FILTER_REFUSED : null } }
  }

  #socket(subscriptionId: string, details: Details, recovered: boolean): EventSocket {
    const connection = this.#connection
    const timeoutMs = Math.min(this.options.timeoutMs, HEARTBEAT_ANSWER_MS)
    return {
      subscriptionId,
      recovered,
      lifeMs: Math.round(details.absoluteTimeout * 1000),
      recovery: () => {
        const { recoveryToken: token } = connection
        return token === null ? null : { token, subscriptionId, forMs: details.recoveryTimeout * 1000 }
      },
      heartbeat: async () => !('failure' in (await connection.ask({ type: 'Heartbeat' }, undefined, timeoutMs))),
      isSubscribed: () => this.#isSubscribed(subscriptionId),
      close: () => connection.end(),
    }
  }

  /** A dead session answers 401, even if its socket is open. A 404 means something only after another answer. */
  async #isSubscribed(subscriptionId: string): Promise<boolean | null> {
    const path = subscriptionPath(subscriptionId)
    const answer = await this.#connection.ask({ type: 'ClientRequest', method: 'GET', path })
    if ('failure' in answer) return null
    const { status } = answer.meta
    if (status === 401 || status === 403) return false
    if (status === 404) return this.#hasSaidYes ? false : null
    const isLive = status === 200 ? subscriptionSchema.safeParse(answer.body).data?.status === 'Active' : null
    if (isLive === true) this.#hasSaidYes = true
    return isLive
  }
}

const ENDED = networkFailure('ERR_SOCKET_CLOSED', false)
const UNREADABLE = ownFailure('ambiguous', "The provider's subscription could not be read")
const NOT_ACTIVE = { ...ownFailure('rejected', 'The subscription was made, but it is not active'), status: 200 }
