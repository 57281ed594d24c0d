import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { NUMBER } from '../../support/deployment.ts'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { until } from '../../support/world.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// Texts come in over a socket all the time, while the lease changes its holder. It needs Litestream 0.5.18.

const SOCKETS = { RC_EVENTS: 'websocket' }
const PAUSE_MS = 20

/** Somebody who texts without a pause, and counts the gateways' sockets with each text. */
class Texting {
  readonly sent: string[] = []
  mostSockets = 0
  #isOver = false
  readonly #done: Promise<void>

  constructor(readonly gateways: Gateways) {
    this.#done = this.#run()
  }

  async #run(): Promise<void> {
    const { simulator } = this.gateways.deployment
    while (!this.#isOver) {
      const text = `text ${this.sent.length}`
      await simulator.control('injectSms', { from: '+15557000001', to: NUMBER, text })
      this.sent.push(text)
      this.mostSockets = Math.max(this.mostSockets, await socketsOf(this.gateways))
      await Bun.sleep(PAUSE_MS)
    }
  }

  /** Until so many more texts were sent. */
  more(count: number): Promise<true> {
    const end = this.sent.length + count
    return until(() => this.sent.length >= end)
  }

  end(): Promise<void> {
    this.#isOver = true
    return this.#done
  }
}

const socketsOf = async ({ deployment }: Gateways): Promise<number> =>
  (await deployment.simulator.control<unknown[]>('sockets')).length

/** The inbound texts in a machine's file, in the order in which they were sent. */
function storedIn({ database: path }: MachineOfGateway): string[] {
  using database = new Database(path, { readonly: true })
  const rows = database.query<{ body: string }, []>(
    `SELECT body FROM messages WHERE direction = 'inbound' ORDER BY CAST(substr(body, 6) AS INTEGER)`,
  )
  return rows.all().map(({ body }) => body)
}

/** The holder and its standby, with the holder's socket open. */
async function pairOf(gateways: Gateways): Promise<[MachineOfGateway, MachineOfGateway]> {
  const [one, two] = [gateways.machine('one'), gateways.machine('two')]
  await one.startUntil('ready', SOCKETS)
  await one.connect()
  await until(async () => (await socketsOf(gateways)) === 1)
  await two.startUntil('standby', SOCKETS)
  return [one, two]
}

interface Status {
  subscriptions: { active: number; pending: number }
}

/** `change` ends one machine's work, and the other takes over while texts come in. */
async function takenOver(change: (one: MachineOfGateway) => Promise<unknown>): Promise<void> {
  await using gateways = await Gateways.create()
  const [one, two] = await pairOf(gateways)
  const texting = new Texting(gateways)
  await texting.more(40)
  await change(one)
  await two.untilState('ready')
  await until(async () => (await socketsOf(gateways)) === 1)
  await texting.more(40)
  await texting.end()
  await until(() => storedIn(two).length >= texting.sent.length, 15_000).catch(() => undefined)
  expect(storedIn(two)).toEqual(texting.sent)
  expect([texting.mostSockets, await socketsOf(gateways)]).toEqual([1, 1])
  expect((await two.json<Status>('status')).subscriptions).toMatchObject({ active: 1, pending: 0 })
}

if (HAS_LITESTREAM) {
  test('after kill -9 of the holder the next one opens the socket: no text is lost, and none is stored twice', async () => {
    await takenOver((one) => one.kill())
  }, 120_000)

  test('a holder that gives its lease has no socket any more, and the next one opens it: no text is lost, and none is stored twice', async () => {
    await takenOver(async (one) => {
      await one.json('lease', 'give')
      expect(await one.ended()).toBe(75)
    })
  }, 120_000)

  test('a holder that was paused beyond its lease ends its socket when it goes on, and stores nothing that the next one lacks', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = await pairOf(gateways)
    const texting = new Texting(gateways)
    await texting.more(40)
    process.kill(one.pid, 'SIGSTOP')
    await two.untilState('ready')
    // RingCentral sends each text over both sockets.
    await until(async () => (await socketsOf(gateways)) === 2)
    await texting.more(40)
    process.kill(one.pid, 'SIGCONT')
    expect(await one.ended()).toBe(75)
    await texting.more(10)
    await texting.end()
    await until(() => storedIn(two).length >= texting.sent.length, 15_000).catch(() => undefined)
    expect(storedIn(two)).toEqual(texting.sent)
    expect(await socketsOf(gateways)).toBe(1)
  }, 120_000)
}
