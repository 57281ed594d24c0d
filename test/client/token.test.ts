import { expect, test } from 'bun:test'
import { type GapEvent, type GatewayEvent, Sgw, SgwError, type TokenOptions } from '../../src/client/client.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'
import { errorOf } from './answers.ts'

// What a page does that may not have the key: its server gives it tokens.

test('a client with a token alone hears what comes, and calls nothing else', async () => {
  await using world = await createWorld()
  const { token, expiresIn } = await serverOf(world).wsToken()
  expect([token, expiresIn]).toEqual([expect.stringMatching(/^wst_/), 60])
  const { sgw, sockets } = pageOf(world, { token })
  const loop = new Loop(sgw)
  await until(() => loop.isOnline)
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hello' })
  await until(() => loop.items.length === 1)
  expect(loop.items).toMatchObject([{ type: 'sms_inbound', body: 'Hello' }])
  expect(await errorOf(sgw.me())).toMatchObject({ status: 401 })
  sockets[0]?.close()
  expect(await loop.ended).toMatchObject({ name: 'SgwError', message: 'The WebSocket was closed' })
  expect(sockets).toHaveLength(1)
})

test('a token opens one connection: the loop that gets a used one ends', async () => {
  await using world = await createWorld()
  const { token } = await serverOf(world).wsToken()
  const first = new Loop(pageOf(world, { token }).sgw)
  await until(() => first.isOnline)
  const second = new Loop(pageOf(world, { token }).sgw)
  expect(String(await second.ended)).toContain('Invalid or expired token')
})

test('with a function for tokens it connects again, says that something may be missing, and goes on', async () => {
  await using world = await createWorld()
  let asked = 0
  const token = async (): Promise<string> => {
    asked++
    // The page is offline for a moment.
    if (asked === 2) throw new TypeError('Failed to fetch')
    return (await serverOf(world).wsToken()).token
  }
  const { sgw, sockets } = pageOf(world, { token })
  const loop = new Loop(sgw)
  await until(() => loop.isOnline)
  sockets[0]?.close()
  await until(() => sockets.length === 2 && loop.isOnline)
  await world.control.injectSms({ from: TO, to: FROM, text: 'Again' })
  await until(() => loop.items.length === 2)
  expect(loop.items).toMatchObject([{ type: 'gap' }, { type: 'sms_inbound', body: 'Again' }])
  expect([asked, String(loop.problems[1])]).toEqual([3, 'SgwError: TypeError: Failed to fetch'])
  loop.stop()
  expect(await loop.ended).toBeUndefined()
})

test('a function for tokens that is refused ends the loop', async () => {
  await using world = await createWorld()
  const refused = (): never => {
    throw new SgwError('Sign in again', 401)
  }
  const { sgw, sockets } = pageOf(world, { token: refused })
  expect(await new Loop(sgw).ended).toMatchObject({ status: 401, message: 'Sign in again' })
  expect(sockets).toEqual([])
})

const serverOf = ({ url, key }: World): Sgw => new Sgw({ baseUrl: url, apiKey: key })

/** The page's client, and the sockets that it opens. */
function pageOf({ url }: World, { token }: Pick<TokenOptions, 'token'>): { sgw: Sgw; sockets: WebSocket[] } {
  const sockets: WebSocket[] = []
  class Kept extends WebSocket {
    constructor(address: string) {
      super(address)
      sockets.push(this)
    }
  }
  return { sgw: new Sgw({ baseUrl: url, token, WebSocket: Kept }), sockets }
}

/** A loop over `events()`. */
class Loop {
  readonly items: (GatewayEvent | GapEvent)[] = []
  readonly problems: unknown[] = []
  /** What ended it; undefined for its signal. */
  readonly ended: Promise<unknown>
  isOnline = false
  readonly #stopping = new AbortController()

  constructor(sgw: Sgw) {
    this.ended = this.#run(sgw).catch((error: unknown) => error)
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #run(sgw: Sgw): Promise<void> {
    const events = sgw.events({
      signal: this.#stopping.signal,
      onState: ({ online }, problem) => {
        this.isOnline = online
        if (problem !== undefined) this.problems.push(problem)
      },
    })
    for await (const event of events) this.items.push(event)
  }
}
