import { NUMBER } from '../deployment.ts'
import type { StandbyNode } from './standby-node.ts'

/** How long a client waits before it tries the other gateway. It still reads the answer. */
const PATIENCE_MS = 1000
const REFUSED_PAUSE_MS = 30
const PAUSE_MS = 20

/** A message that was answered with 202. */
interface Accepted {
  messageId: string
  /** When its request began, by `performance.now()`. */
  askedAt: number
  answeredAt: number
  /** The gateway that answered, by its generation. */
  by: string
}

/**
 * Clients that send to a pair of gateways, each to the one that accepts. A client that waits too long switches to the other one, but a later
 * answer still counts: a gateway that lost its lease must not give one.
 */
export class FollowingLoad {
  readonly accepted: Accepted[] = []
  /** How many of them came after the client's patience. */
  late = 0
  #conversations = 0
  /** How often all conversations were left. */
  #beginnings = 0
  #isOver = false
  readonly #clients: Promise<void>[]
  readonly #open = new Set<Promise<unknown>>()

  constructor(
    readonly nodes: readonly StandbyNode[],
    readonly key: string,
    connections: number,
  ) {
    this.#clients = Array.from({ length: connections }, (_, at) => this.#send(at))
  }

  /** Resolves when each request has its answer or its error. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients)
    await Promise.all(this.#open)
  }

  /** Every client continues in a new conversation: the other conversations may be abandoned. */
  startOver(): void {
    this.#beginnings++
  }

  /** The first message that was asked for since then and accepted by a gateway other than this generation; null without one. */
  firstSince(from: number, except: string | null): Accepted | null {
    let first: Accepted | null = null
    for (const accepted of this.accepted.toReversed()) {
      if (accepted.answeredAt < from) break
      if (accepted.askedAt > from && accepted.by !== except) first = accepted
    }
    return first
  }

  /** The longest period since then in which nothing was accepted, in milliseconds. */
  longestPauseSince(from: number): number {
    const times = this.accepted.map(({ answeredAt }) => answeredAt).filter((at) => at > from)
    const pauses = [from, ...times].map((at, index) => (times[index] ?? performance.now()) - at)
    return Math.round(Math.max(...pauses))
  }

  async #send(at: number): Promise<void> {
    let [conversation, beginning] = [this.#conversations++, this.#beginnings]
    for (let number = 0; !this.#isOver; number++) {
      const node = this.nodes[at % this.nodes.length]
      if (node === undefined) return
      const outcome = await this.#sendOne(node, conversation, number)
      if (outcome === 'accepted') await Bun.sleep(PAUSE_MS)
      else {
        at++
        await Bun.sleep(REFUSED_PAUSE_MS)
      }
      // A message that is still in progress may be sent after the next one, so that one is in another conversation.
      if (outcome === 'pending' || beginning !== this.#beginnings) conversation = this.#conversations++
      beginning = this.#beginnings
    }
  }

  async #sendOne(node: StandbyNode, conversation: number, number: number): Promise<'accepted' | 'refused' | 'pending'> {
    let isLate = false
    const answer = this.#request(node, conversation, number).then((isAccepted) => {
      if (isAccepted && isLate) this.late++
      return isAccepted ? ('accepted' as const) : ('refused' as const)
    })
    this.#open.add(answer)
    void answer.finally(() => this.#open.delete(answer))
    const patience = Bun.sleep(PATIENCE_MS).then(() => {
      isLate = true
      return 'pending' as const
    })
    return Promise.race([answer, patience])
  }

  async #request(node: StandbyNode, conversation: number, number: number): Promise<boolean> {
    const [askedAt, by] = [performance.now(), node.generation]
    const sms = { from: NUMBER, to: `+1555${1_000_000 + conversation}`, body: `load ${conversation} ${number}` }
    const response = await fetch(`${node.url}/v1/sms/send`, {
      method: 'POST',
      keepalive: false,
      headers: { authorization: `Bearer ${this.key}` },
      body: JSON.stringify(sms),
    }).catch(() => null)
    const answer = (await response?.json().catch(() => null)) as { messageId: string } | null
    if (response?.status !== 202 || answer === null) return false
    this.accepted.push({ messageId: answer.messageId, askedAt, answeredAt: performance.now(), by })
    return true
  }
}
