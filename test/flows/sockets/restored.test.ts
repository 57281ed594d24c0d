import { expect, test } from 'bun:test'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../../src/core/config.ts'
import { silentLog } from '../../../src/core/log.ts'
import { connectJwt } from '../../../src/operator/connect-jwt.ts'
import { readStatus } from '../../../src/operator/status.ts'
import { type RunningGateway, runGateway } from '../../../src/server/run.ts'
import { sgw } from '../../support/process.ts'
import { operate } from '../../support/operator.ts'
import { until } from '../../support/world.ts'
import { MINUTE, SocketCase } from './socket-case.ts'

// The gateway starts from a copy of `sgw backup`, as docs/operate.md describes, that is older than its JWT or its sockets.

/** Longer than RingCentral keeps the session of a socket, and than back-fills overlap. */
const RESTORE_MS = 10 * MINUTE
const NONE = { active: 0, refresh_failed: 0, revoked: 0 }
type Provider = Config['provider']
const EVENTS = [
  ['webhook', 'websocket'],
  ['websocket', 'webhook'],
] as const

/** One database after another, each with its own process. */
class Restored implements AsyncDisposable {
  readonly #copy: string
  running: RunningGateway

  private constructor(readonly it: SocketCase) {
    this.running = it.world.running
    this.#copy = join(it.world.folder, 'copy.db')
  }

  static async open(events: Provider['events'], connect = true): Promise<Restored> {
    const it = await SocketCase.open({ env: { RC_EVENTS: events }, connect })
    if (connect) await until(() => it.control.subscriptions().length === 1)
    return new Restored(it)
  }

  get extensionId(): string {
    return this.it.control.extensions()[0]?.extensionId ?? ''
  }

  async backUp(): Promise<void> {
    const { code, stderr } = await sgw(['backup', this.#copy], { DATABASE_URL: `file:${this.it.world.folder}/sgw.db` })
    if (code !== 0) throw new Error(stderr)
  }

  /** Starts the next process with another setting, on the same database. */
  async start(provider: Partial<Provider> = {}): Promise<void> {
    await this.running.stop()
    const { config, clock } = this.it.world.gateway
    this.running = await runGateway({
      config: { ...config, provider: { ...config.provider, ...provider } },
      log: silentLog,
      clock,
    })
    this.running.work()
    this.it.one.clock.advance(0)
  }

  /** As `start`, on the copy. `away`: texts that come while no gateway runs. */
  async restore(provider: Partial<Provider>, away: readonly string[] = []): Promise<void> {
    await this.running.stop()
    for (const text of away) await this.it.text(text)
    this.it.one.clock.advance(RESTORE_MS)
    const database = join(this.it.world.folder, 'sgw.db')
    for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true })
    copyFileSync(this.#copy, database)
    await this.start(provider)
  }

  connectJwt(jwt: string) {
    return connectJwt(this.running.gateway, { tenantId: this.it.world.tenantId, jwt }, 'req_test')
  }

  async bodies(): Promise<unknown[]> {
    const sql = `SELECT body FROM messages WHERE direction = 'inbound' ORDER BY body`
    return (await this.running.gateway.database.gate.execute(sql)).rows.map((row) => row['body'])
  }

  /** Somebody texts, and the text comes. */
  async receives(text: string): Promise<void> {
    await this.it.text(text)
    await until(async () => (await this.bodies()).includes(text))
  }

  ways = (): string[] => this.it.control.subscriptions().map(({ transport }) => transport)

  /** The only subscription is of this way, and the gateway knows that it is live: a copy may know an earlier one. */
  async receiving(way: 'WebHook' | 'WebSocket'): Promise<void> {
    const sockets = way === 'WebSocket' ? 1 : 0
    await this.it.pass(11 * MINUTE, async () => {
      const { subscriptions } = await this.status()
      const isOnly = this.ways().join() === way && this.it.sockets() === sockets && subscriptions.join() === '1,0'
      return isOnly && (await this.#known()) === this.it.control.subscriptions()[0]?.subscriptionId
    })
  }

  /** The provider's id of the subscription that the gateway counts on. */
  async #known(): Promise<unknown> {
    const sql = `SELECT provider_id FROM subscriptions WHERE status = 'active'`
    return (await this.running.gateway.database.gate.execute(sql)).rows[0]?.['provider_id']
  }

  async status() {
    const { extensions, subscriptions } = await readStatus(this.running.gateway)
    return { extensions, subscriptions: [subscriptions.active, subscriptions.pending] }
  }

  /** Why the extension does not receive, as the console shows it. */
  async reason(): Promise<string | null | undefined> {
    const { body } = await operate<{ extensions: { reason: string | null }[] }>(
      this.running,
      'GET',
      '/v1/rc/extensions/health',
      undefined,
      { 'sgw-app': this.it.world.app.appId },
    )
    return body.extensions[0]?.reason
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.running.stop()
    await this.it[Symbol.asyncDispose]()
  }
}

test('a backup from before the JWT: the start connects RC_JWT again, and texts come from then on', async () => {
  await using home = await Restored.open('websocket', false)
  const { jwt } = home.it.control.addJwt({ extensionId: home.extensionId })
  await home.backUp()
  await home.start({ jwt })
  await home.receiving('WebSocket')
  await home.receives('before the loss')

  await home.restore({ jwt }, ['without a gateway'])
  await home.receiving('WebSocket')
  expect(await home.status()).toEqual({ extensions: { ...NONE, active: 1 }, subscriptions: [1, 0] })
  await home.receives('after the loss')
  // The copy does not know that this extension was ever connected.
  expect(await home.bodies()).toEqual(['after the loss'])
}, 30_000)

test('a backup from before a JWT that an operator connected has no extension: nothing comes in until it is connected again', async () => {
  await using home = await Restored.open('websocket', false)
  const { jwt } = home.it.control.addJwt({ extensionId: home.extensionId })
  await home.backUp()
  expect((await home.connectJwt(jwt)).receiving).toBe(true)
  await home.receives('before the loss')

  await home.restore({})
  await home.it.run(2 * MINUTE)
  expect(await home.status()).toEqual({ extensions: NONE, subscriptions: [0, 0] })
  expect(home.ways()).toEqual([])
  expect((await home.connectJwt(jwt)).receiving).toBe(true)
  await home.receiving('WebSocket')
  await home.receives('after the loss')
}, 30_000)

test('a backup from before the JWT of an extension that had a link: its dead session is shown, and with the JWT everything since the backup comes in', async () => {
  await using home = await Restored.open('websocket')
  await home.receives('1 before the backup')
  await home.backUp()
  const { jwt } = home.it.control.addJwt({ extensionId: home.extensionId })
  await home.it.run(MINUTE)
  await home.connectJwt(jwt)
  await home.receiving('WebSocket')
  await home.receives('2 after the backup')
  home.it.control.revokeTokens({ extensionId: home.extensionId })

  await home.restore({}, ['3 without a gateway'])
  await home.it.pass(11 * MINUTE, async () => (await home.status()).extensions['revoked'] === 1)
  expect(await home.status()).toMatchObject({ subscriptions: [0, 0] })
  expect(await home.reason()).toBe('Its authorization has ended')
  await home.connectJwt(jwt)
  await home.receiving('WebSocket')
  await home.receives('4 after the loss')
  await home.it.run(2 * MINUTE)
  expect(await home.bodies()).toEqual([
    '1 before the backup',
    '2 after the backup',
    '3 without a gateway',
    '4 after the loss',
  ])
}, 30_000)

for (const [before, after] of EVENTS)
  test(`a backup from before a change from ${before} to ${after}: the new way opens, and everything since the backup comes in once`, async () => {
    await using home = await Restored.open(before)
    const [oldWay, newWay] =
      before === 'webhook' ? (['WebHook', 'WebSocket'] as const) : (['WebSocket', 'WebHook'] as const)
    await home.receiving(oldWay)
    await home.it.text('1 before the backup')
    await home.it.pass(16 * MINUTE, async () => (await home.bodies()).length === 1)
    await home.backUp()
    await home.start({ events: after })
    await home.receiving(newWay)
    await home.it.text('2 after the change')

    await home.restore({ events: after }, ['3 without a gateway'])
    await home.receiving(newWay)
    expect(await home.status()).toEqual({ extensions: { ...NONE, active: 1 }, subscriptions: [1, 0] })
    await home.it.text('4 after the loss')
    const all = ['1 before the backup', '2 after the change', '3 without a gateway', '4 after the loss']
    const withinMs = after === 'websocket' ? MINUTE : 16 * MINUTE
    await home.it.pass(withinMs, async () => (await home.bodies()).length >= all.length)
    expect(await home.bodies()).toEqual(all)
  }, 30_000)
