import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sentTexts, untilDrained } from '../backup-loss.ts'
import { type Api, type Broken, ClientLedger } from '../client-ledger.ts'
import { FailoverProxy } from '../failover-proxy.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type RemoteSimulator, startRemoteSimulator } from '../remote-simulator.ts'
import type { S3Stub } from '../s3-stub.ts'
import { until } from '../world.ts'
import { FollowingLoad } from './following-load.ts'
import { InboundTraffic } from './inbound-traffic.ts'
import { reachedIn } from './kept-copy.ts'
import { MACHINE_CLOCK, NEXT_MIGRATIONS, StandbyNode } from './standby-node.ts'

export interface TakeoverOptions {
  /** The variables of the storage. */
  environment: Record<string, string>
  roundTripMs: number
  connections: number
  /** Files that both gateways load before their own. */
  preloads?: readonly string[]
  /** The storage of the tests, as each machine sees it. */
  storages?: readonly [S3Stub, S3Stub]
  /** The command of `sgw` with which both begin, if it is of another version. */
  sgw?: string[]
  /** Chance in [0, 1). */
  random?: () => number
  /** Makes the database with which the first gateway starts. Default: an empty one. */
  fill?(path: string): Promise<void>
}

/** What takeovers have cost. All but `accepted`, `late`, `posted` and `givenUp` must be 0. */
export interface TakeoverCosts extends Broken {
  /** Accepted messages that a person gave up by a choice, and that were listed. */
  givenUp: number
  /** Messages whose 202 came after the client had turned to the other gateway. */
  late: number
  inboundMissing: number
  inboundTwice: number
  /** Webhooks that arrived at the app's receiver, and how many of them arrived again. */
  posted: number
  postedTwice: number
}

/** A pair of gateways under load, with one provider and one storage, whose lease goes back and forth. */
export class Takeovers implements AsyncDisposable {
  #stack = new AsyncDisposableStack()
  /** The ids of messages that a person has given up. Null until a choice was made. */
  #givenUp: Set<string> | null = null

  private constructor(
    readonly nodes: readonly [StandbyNode, StandbyNode],
    readonly simulator: RemoteSimulator,
    readonly receiver: Receiver,
    readonly api: Api,
    readonly ledger: ClientLedger,
    readonly load: FollowingLoad,
    readonly inbound: InboundTraffic,
    readonly storages: readonly [S3Stub, S3Stub] | null,
    readonly random: () => number,
  ) {}

  static async start(options: TakeoverOptions): Promise<Takeovers> {
    await using stack = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'sgw-takeovers-'))
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const simulator = await startRemoteSimulator(join(folder, 'simulator.log'))
    stack.use(simulator.program)
    // Takeovers make many events fail, which must not end the subscription.
    await simulator.control('configure', { blacklistAfterMs: NEVER_BLACKLIST_MS })
    const receiver = stack.use(startReceiver())
    const proxy = stack.use(await FailoverProxy.start())
    const { roundTripMs, connections, storages, sgw, random = Math.random } = options
    const preloads = [MACHINE_CLOCK, NEXT_MIGRATIONS, ...(options.preloads ?? [])]
    const environment = { ...ENVIRONMENT, ...options.environment, PUBLIC_URL: proxy.url }
    const node = async (at: 0 | 1, fill?: TakeoverOptions['fill']): Promise<StandbyNode> => {
      const storage = storages === undefined ? {} : storages[at].environment()
      const own = { environment: { ...environment, ...storage }, simulator, roundTripMs, preloads, sgw }
      return stack.use(await StandbyNode.create({ ...own, ...(fill && { fill }) }))
    }
    const first = await node(0, options.fill)
    // Otherwise, the second one might take the lease, with an empty database.
    await untilReady(first)
    const nodes = [first, await node(1)] as const
    proxy.watch(nodes.map(({ url }) => url))
    await first.deployment.connect(receiver.url)
    const { key } = first.deployment
    const api = apiOf(proxy.url, key)
    const ledger = stack.use(await ClientLedger.start(api))
    const load = new FollowingLoad(nodes, key, connections)
    const inbound = new InboundTraffic(simulator)
    const seen = storages ?? null
    const drill = new Takeovers(nodes, simulator, receiver, api, ledger, load, inbound, seen, random)
    drill.#stack = stack.move()
    return drill
  }

  /** The node that works, and the one that stands by, once there is one of each. */
  async roles(): Promise<{ active: StandbyNode; standby: StandbyNode }> {
    return until(async () => {
      const [first, second] = await Promise.all(this.nodes.map((node) => node.status()))
      const [one, other] = this.nodes
      if (first === 'ready' && second === 'standby') return { active: one, standby: other }
      if (second === 'ready' && first === 'standby') return { active: other, standby: one }
      return null
    }, SETTLE_MS).catch((error: unknown) => {
      throw new Error(`No pair of one active and one standby gateway:\n${this.outputs()}`, { cause: error })
    })
  }

  /** Waits until the standby's prepared copy has something of the load. */
  async untilFollowed(): Promise<void> {
    const { standby } = await this.roles()
    const folder = dirname(standby.deployment.database)
    const before = await until(() => reachedIn(folder), SETTLE_MS)
    await until(() => (reachedIn(folder) ?? '') > before, SETTLE_MS)
  }

  /** What the machine sees of the storage of the tests. */
  storageOf(node: StandbyNode): S3Stub {
    const storage = this.storages?.[this.nodes.indexOf(node)]
    if (storage === undefined) throw new Error('This fault needs the storage of the tests')
    return storage
  }

  /** A person has chosen a history, and was shown the messages that only the other one had. */
  giveUp(messageIds: readonly string[]): void {
    this.#givenUp = new Set([...(this.#givenUp ?? []), ...messageIds])
  }

  /** The end of the log of each gateway. */
  outputs(): string {
    return this.nodes.map(({ outputs }) => outputs().slice(-OUTPUT_CHARACTERS)).join('\n---\n')
  }

  /** Waits until a message is accepted by a gateway other than this generation. Returns the milliseconds since `from`. */
  async acceptsAgain(from: number, except: string | null): Promise<number> {
    const first = await until(() => this.load.firstSince(from, except), SETTLE_MS).catch((error: unknown) => {
      throw new Error(`Nothing is accepted:\n${this.outputs()}`, { cause: error })
    })
    return Math.round(first.answeredAt - from)
  }

  /**
   * Ends the load, hands over once more, waits until everything has ended, and compares what clients know with what the gateway and the
   * provider have.
   */
  async costs(): Promise<TakeoverCosts> {
    await Promise.all([this.load.stop(), this.inbound.stop()])
    const given = (await this.roles()).active
    await given.deployment.command('lease', 'give')
    const { active } = await until(
      () => this.roles().then((roles) => (roles.active === given ? null : roles)),
      SETTLE_MS,
    )
    await this.#untilBackFilled()
    await untilDrained(active.deployment, 120_000)
    const all = this.load.accepted.map(({ messageId }) => messageId)
    this.ledger.accepted.push(...all.filter((messageId) => this.#givenUp?.has(messageId) !== true))
    const broken = await this.ledger.broken(await sentTexts(active.deployment))
    const { missing, twice } = await this.inbound.missingAndTwice(this.api)
    const posts = this.receiver.requests.map(({ headers }) => headers['webhook-id'])
    const posted = new Set(posts).size
    return {
      ...broken,
      accepted: all.length,
      givenUp: all.length - this.ledger.accepted.length,
      late: this.load.late,
      inboundMissing: missing,
      inboundTwice: twice,
      posted,
      postedTwice: posts.length - posted,
      ...(this.#givenUp !== null && afterChoice(broken)),
    }
  }

  /** The start fetches the texts whose events came while no gateway was there, each with a commit, which a busy machine is slow at. */
  async #untilBackFilled(): Promise<void> {
    let left = Infinity
    const isLess = async (): Promise<boolean> => {
      const { missing } = await this.inbound.missingAndTwice(this.api)
      const hasCome = missing < left
      left = Math.min(left, missing)
      return hasCome || missing === 0
    }
    while (left > 0 && (await until(isLess, BACK_FILL_MS).catch(() => false)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.load.stop(), this.inbound.stop()])
    await this.#stack.disposeAsync()
  }
}

/**
 * What a choice between two histories does to others. A client that follows is told by a gap, and reads anew. A text that both histories
 * received has the same id in both, and was posted by both with the same `webhook-id`.
 */
const afterChoice = ({ events, gaps }: Broken): Partial<TakeoverCosts> =>
  gaps > 0 ? { events: 0, gaps: 0, postedTwice: 0 } : { events: Math.max(1, events) }

/** `RECONCILE_SETTLE` is at least the lease and `PROVIDER_TIMEOUT`: what the lost holder called is known by then. */
const ENVIRONMENT = {
  DURABILITY: 'replica',
  STANDBY: 'on',
  PROVIDER_TIMEOUT: '2s',
  RECONCILE_SETTLE: '7s',
}
const NEVER_BLACKLIST_MS = 86_400_000
const SETTLE_MS = 60_000
/** The first start copies all of a large database. */
const START_MS = 300_000
const BACK_FILL_MS = 60_000
const OUTPUT_CHARACTERS = 6000

async function untilReady(node: StandbyNode): Promise<void> {
  await until(async () => (await node.status()) === 'ready', START_MS).catch((error: unknown) => {
    throw new Error(`The first gateway does not take the lease:\n${node.outputs()}`, { cause: error })
  })
}

/** The gateway behind the proxy, whichever it is. A request without an answer is made again. */
function apiOf(url: string, key: string): Api {
  const init = { keepalive: false, headers: { authorization: `Bearer ${key}` } }
  const call = (method: string, path: string): Promise<Response> =>
    until(() => fetch(`${url}${path}`, { ...init, method }).catch(() => null), SETTLE_MS)
  return { url, key, call }
}
