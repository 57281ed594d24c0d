import { sentTexts, untilDrained } from './backup-loss.ts'
import { type Broken, ClientLedger } from './client-ledger.ts'
import { Deployment, NUMBER } from './deployment.ts'
import { DistantStorage } from './distant-storage.ts'

/** What the loss of machines has cost. */
export interface Losses extends Broken {
  times: number
  /** From the start of the entry point until the gateway serves, in milliseconds; one for each loss. */
  restartMs: number[]
}

/** `at a stop`: after a SIGTERM to all processes, which ends Litestream before the gateway. */
export type Moment = 'any time' | 'during an upload' | 'at a stop'

/** A deployment with a distant storage, under load, whose machine is lost again and again. */
export class MachineLoss implements AsyncDisposable {
  readonly #restartMs: number[] = []
  #label = 0

  private constructor(
    readonly deployment: Deployment,
    readonly storage: DistantStorage,
    readonly ledger: ClientLedger,
  ) {}

  /** `environment`: the variables of the storage, whose LITESTREAM_ENDPOINT is its address. */
  static async start(environment: Record<string, string>, roundTripMs: number): Promise<MachineLoss> {
    const storage = await DistantStorage.start(environment['LITESTREAM_ENDPOINT'] ?? '', roundTripMs)
    const deployment = await Deployment.create({ ...environment, LITESTREAM_ENDPOINT: storage.url })
    await deployment.start()
    await deployment.connect('http://127.0.0.1:9/nobody')
    return new MachineLoss(deployment, storage, await ClientLedger.start(deployment))
  }

  /** Sends on this many connections until `ends`. Returns how many messages were accepted. */
  async load(connections: number, ends: Promise<unknown>): Promise<number> {
    const before = this.ledger.accepted.length
    let isOver = false
    const over = ends.finally(() => (isOver = true))
    const label = ++this.#label
    const send = async (connection: number): Promise<void> => {
      for (let number = 0; !isOver; number++) await this.#send(`${label} ${connection} ${number}`, connection)
    }
    await Promise.all([over, ...Array.from({ length: connections }, (_, connection) => send(connection))])
    return this.ledger.accepted.length - before
  }

  /** Loses the machine with its disk under load, and starts another one. */
  async lose(moment: Moment, connections: number, loadMs: number): Promise<void> {
    await this.load(
      connections,
      Bun.sleep(loadMs).then(() => this.#end(moment)),
    )
    this.deployment.loseVolume()
    this.#restartMs.push(Math.round(await this.deployment.start({ REQUIRE_RESTORE: '1' })))
  }

  /** Waits until everything has ended, and compares what clients know with what gateway and provider have. */
  async losses(): Promise<Losses> {
    await untilDrained(this.deployment, 120_000)
    const broken = await this.ledger.broken(await sentTexts(this.deployment))
    return { times: this.#restartMs.length, restartMs: this.#restartMs, ...broken }
  }

  async #end(moment: Moment): Promise<unknown> {
    if (moment === 'at a stop') return this.deployment.terminateAll()
    if (moment === 'during an upload') await this.storage.nextUpload()
    return this.deployment.crash(this.#label % 2 === 0)
  }

  async #send(text: string, connection: number): Promise<void> {
    const response = await this.deployment
      .call('POST', '/v1/sms/send', { from: NUMBER, to: `+1555${7_000_000 + connection}`, body: text })
      .catch(() => null)
    const answer = (await response?.json().catch(() => null)) as { messageId: string } | null
    if (response?.status === 202 && answer !== null) this.ledger.accepted.push(answer.messageId)
    else await Bun.sleep(50)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.ledger[Symbol.dispose]()
    await this.deployment[Symbol.asyncDispose]()
    await this.storage[Symbol.asyncDispose]()
  }
}
