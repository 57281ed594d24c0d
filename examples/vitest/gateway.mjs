// A gateway for tests, with a simulated provider: no RingCentral account, no limits, and time can move.

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll } from 'vitest'

const SGW = (process.env.SGW ?? 'sgw').split(' ')

/** Starts one gateway for the tests of a file, and ends every fault between two tests. */
export function useGateway() {
  const gateway = new Gateway()
  beforeAll(() => gateway.start(), 60_000)
  afterEach(() => gateway.control('reset'))
  afterAll(() => gateway.stop(), 20_000)
  return gateway
}

class Gateway {
  async start() {
    this.folder = mkdtempSync(join(tmpdir(), 'sgw-'))
    this.log = join(this.folder, 'sgw.log')
    this.env = { ...process.env, PORT: '0', DATABASE_URL: `file:${this.folder}/sgw.db`, NO_COLOR: '1' }
    const log = openSync(this.log, 'w')
    const [command, ...args] = SGW
    this.process = spawn(command, [...args, 'start', '--test'], { env: this.env, stdio: ['ignore', log, log] })
    this.process.on('error', (error) => (this.failed = error))
    this.controlUrl = await this.printed(/Simulator +(\S+)/)
    this.url = await this.printed(/sgw listens on +(\S+)/)
    this.key = await this.printed(/API key +(\S+)/)
    this.number = await this.printed(/Your numbers +(\+\d+)/)
  }

  async printed(pattern) {
    const [, text] = await this.waitFor(() => {
      const log = readFileSync(this.log, 'utf8')
      if (this.failed || this.process.exitCode !== null)
        throw new Error(`The gateway did not start (SGW is the command that runs sgw): ${this.failed ?? log}`)
      return pattern.exec(log)
    })
    return text
  }

  /** Calls the API. Resolves with the status and the answer. */
  api(method, path, body) {
    return call(method, this.url + path, body, { authorization: `Bearer ${this.key}` })
  }

  /** Calls the control interface of the simulated provider. */
  async control(name, argument = {}) {
    const { status, answer } = await call('POST', `${this.controlUrl}/${name}`, argument)
    if (status !== 200) throw new Error(`${name}: ${JSON.stringify(answer)}`)
    return answer
  }

  /** The texts that a phone has received, oldest first. */
  async inbox(number) {
    const sent = await this.control('messages', { direction: 'Outbound' })
    return sent.filter(({ to }) => to.includes(number)).map(({ text }) => text)
  }

  /** A phone texts the gateway. Resolves when the gateway has stored it. */
  reply(number, text) {
    return this.control('injectSms', { from: number, to: this.number, text })
  }

  /** Moves the time forward, such as by 24h. */
  advance(duration) {
    const [command, ...args] = SGW
    execFileSync(command, [...args, 'simulate', 'advance', duration], { env: this.env, stdio: 'pipe' })
  }

  /** Resolves with what `check` returns, once that is neither falsy nor an empty list. */
  async waitFor(check, seconds = 20) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(20)) {
      const found = await check()
      if (Array.isArray(found) ? found.length > 0 : found) return found
    }
    throw new Error(`Nothing came within ${seconds} s`)
  }

  async stop() {
    if (this.failed || this.process.exitCode !== null) return
    const ended = new Promise((resolve) => this.process.once('exit', resolve))
    // A signal would end only npx, if SGW begins with it.
    const [command, ...args] = SGW
    spawn(command, [...args, 'stop'], { env: this.env, stdio: 'ignore' })
    if ((await ended) !== 0) throw new Error(`The gateway did not stop: ${readFileSync(this.log, 'utf8')}`)
    rmSync(this.folder, { recursive: true })
  }
}

async function call(method, url, body, headers) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return { status: response.status, answer: await response.json() }
}
