import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { LITESTREAM } from '../support/litestream.ts'
import { type PipedProgram, sgw, startServer, temporaryFolder } from '../support/process.ts'
import { type Finished, PROJECT, freePort } from '../support/program.ts'
import { FROM, TO, until } from '../support/world.ts'
import { ENCRYPTED, filesOf, found, noteSocketSecrets, partsOfJwt } from './canaries.ts'

// A JWT, the tickets of its sockets and their recovery tokens are searched for in all that programs leave behind: output, answers to
// commands, a copy by hand, the database with its WAL, a Litestream copy, and what a crash prints.

const TEXT = 'canary-incoming-text'
const CLIENT = { clientId: 'client', clientSecret: 'client-key' }

/** What an operator types, with and without `--json`. */
const COMMANDS = [
  ['status'],
  ['doctor'],
  ['extensions', 'list'],
  ['tenant', 'list'],
  ['messages', 'list'],
  ['webhooks', 'list'],
  ['lease'],
  ['keys', 'rotate'],
]

const outputOf = ({ stdout, stderr }: Finished): string => stdout + stderr

class Home implements Disposable {
  readonly #folder = temporaryFolder()
  readonly data = this.file('data')
  readonly database = join(this.data, 'sgw.db')
  readonly replica = this.file('replica')
  readonly adminPort = freePort()
  readonly env: Record<string, string>

  constructor(mode: 'development' | 'production', simulatorUrl: string, { jwt, dead }: { jwt: string; dead: string }) {
    mkdirSync(this.data)
    writeFileSync(this.file('jwt.txt'), jwt)
    writeFileSync(this.file('dead.txt'), dead)
    this.env = {
      NODE_ENV: mode,
      HOST: '127.0.0.1',
      LOG_LEVEL: 'debug',
      DATABASE_URL: `file:${this.database}`,
      ENCRYPTION_KEYS: crypto.getRandomValues(new Uint8Array(32)).toBase64(),
      ADMIN_PORT: String(this.adminPort),
      RC_SERVER_URL: simulatorUrl,
      RC_CLIENT_ID: CLIENT.clientId,
      RC_CLIENT_SECRET: CLIENT.clientSecret,
      RC_JWT_FILE: this.file('jwt.txt'),
      RC_EVENTS: 'websocket',
      LITESTREAM: '1',
      LITESTREAM_COMMAND: LITESTREAM,
      LITESTREAM_CONFIG: join(PROJECT, 'litestream.yml'),
      LITESTREAM_REPLICA_URL: `file://${this.replica}`,
      // A crash must not be reported to anybody.
      BUN_ENABLE_CRASH_REPORTING: '0',
    }
  }

  file(name: string): string {
    return this.#folder.file(name)
  }

  /** Whatever the commands print. */
  async said(...commands: string[][]): Promise<string> {
    const asked = [...commands, ...commands.map((words) => [...words, '--json'])].map((words) => sgw(words, this.env))
    return (await Promise.all(asked)).map(outputOf).join('')
  }

  /** The database that Litestream brings back, as soon as its copy has the text. */
  async restored(): Promise<string> {
    const folder = this.file('restored')
    const database = join(folder, 'sgw.db')
    const env = { ...this.env, DATABASE_URL: `file:${database}` }
    await until(async () => {
      rmSync(folder, { recursive: true, force: true })
      return (await sgw(['restore'], env)).code === 0 && existsSync(database) && hasText(database)
    })
    return database
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}

function hasText(path: string): boolean {
  using database = new Database(path, { readonly: true })
  return database.query('SELECT 1 FROM messages WHERE body = ?').get(TEXT) !== null
}

/** The first socket ends; the second one, whose address has a recovery token, is refused. */
async function loseSockets({ control }: Simulator, home: Home, server: PipedProgram): Promise<void> {
  await until(() => server.stdout.includes('event socket is open'))
  await control.injectSms({ to: FROM, from: TO, text: TEXT })
  await until(() => hasText(home.database))
  control.faultSockets({ kind: 'refuse', calls: null })
  control.faultSockets({ kind: 'no-json' })
  await until(() => control.requests({ route: 'socket' }).some(({ status }) => status === 503))
}

/** What an operator reads. */
async function operated(home: Home): Promise<string> {
  const [tenant] = JSON.parse((await sgw(['tenant', 'list', '--json'], home.env)).stdout)
  const connect = ['extensions', 'connect-jwt', '--tenant', tenant.tenantId, '--jwt-file']
  const said = [await home.said(...COMMANDS)]
  // Each but once, because JWTs and tickets share five calls a minute.
  said.push(outputOf(await sgw([...connect, home.file('dead.txt'), '--json'], home.env)))
  said.push(outputOf(await sgw([...connect, home.file('jwt.txt')], home.env)))
  said.push(outputOf(await sgw(['backup', home.file('copy.db')], home.env)))
  said.push(await (await fetch(`http://127.0.0.1:${home.adminPort}/metrics`)).text())
  return said.join('')
}

/** All that a gateway leaves behind that is used and then crashes, by where it is. */
async function useAndCrash(simulator: Simulator, home: Home): Promise<Record<string, string>> {
  await using server = await startServer(home.env)
  await loseSockets(simulator, home, server)
  const commands = await operated(home)
  const restored = await home.restored()
  const whileRunning = filesOf(home.data)
  const commandLine = readFileSync(`/proc/${server.child.pid}/cmdline`, 'latin1')
  server.kill('SIGSEGV')
  const output = outputOf(await server.ended())
  const afterwards = Object.entries(filesOf(home.data)).map(([name, bytes]) => [`${name} after the crash`, bytes])
  return {
    output,
    commands,
    'command line': commandLine,
    ...whileRunning,
    ...Object.fromEntries(afterwards),
    ...filesOf(home.replica),
    'copy by hand': readFileSync(home.file('copy.db'), 'latin1'),
    'restored copy': readFileSync(restored, 'latin1'),
  }
}

for (const mode of ['development', 'production'] as const)
  test(`in ${mode} no JWT, ticket or recovery token is in what programs print, store, copy or leave after a crash`, async () => {
    using noted = noteSocketSecrets()
    const simulator = await startSimulator({ clock: systemClock, limits: false, ...CLIENT })
    const { extensionId } = simulator.control.addExtension({ name: 'Alice', numbers: [FROM] })
    const { jwt } = simulator.control.addJwt({ extensionId })
    const { jwt: dead } = simulator.control.addJwt({ extensionId })
    simulator.control.removeJwt({ jwt: dead })
    using home = new Home(mode, simulator.url, { jwt, dead })
    const places = await useAndCrash(simulator, home)
    await simulator.stop()

    const secrets = [...partsOfJwt(jwt), ...partsOfJwt(dead), ...noted.secrets()]
    console.log(`${secrets.length} secrets, ${Object.keys(places).length} places`)
    for (const [name, bytes] of Object.entries(places)) expect([name, ...found(bytes, secrets)]).toEqual([name])
    expect(places['output']).not.toMatch(/access_token=|wsc=/)

    // The search finds what is there.
    expect(noted.secrets().length).toBeGreaterThanOrEqual(6)
    expect(places['output']).toContain('event socket has closed')
    expect(places['output']).toContain('Segmentation fault')
    for (const name of ['copy by hand', 'restored copy']) expect(found(places[name] ?? '', [TEXT])).toHaveLength(1)
    for (const path of [home.file('copy.db'), home.file('restored/sgw.db')]) {
      using database = new Database(path, { readonly: true })
      expect(database.query('SELECT jwt FROM extensions').get()).toEqual({ jwt: expect.stringMatching(ENCRYPTED) })
    }
  }, 120_000)
