import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, LoggedProgram, freePort } from '../support/program.ts'
import { until } from '../support/world.ts'
import {
  CANARY,
  PREFIX,
  expectBodyLimit,
  expectPictures,
  expectSlowPicture,
  expectWholeWay,
  get,
  prefixLines,
  serving,
  visitTokens,
  worldBehindProxy,
} from './stage.ts'

const CONFIGURATION = readFileSync(join(PROJECT, 'deploy/Caddyfile'), 'utf8')
const PAIR = Bun.YAML.parse(readFileSync(join(PROJECT, 'compose.ha.yaml'), 'utf8')) as {
  services: { caddy: { environment: { SGW_UPSTREAM_OPTIONS: string } } }
}
const CADDY = Bun.which('caddy')

/** Runs Caddy with the delivered file in front of a gateway. */
async function behindCaddy(configuration = CONFIGURATION, prefix = '', clock?: ManualClock) {
  const world = await worldBehindProxy(clock)
  const caddy = startCaddy(configuration, { SGW_UPSTREAM: new URL(world.url).host })
  const url = `${caddy.url}${prefix}`
  await serving(url)
  return {
    ...caddy,
    url,
    world,
    async [Symbol.asyncDispose]() {
      await caddy[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

/** Runs Caddy with the delivered file, without a host name. Only ports and the folder of certificates differ. */
function startCaddy(configuration: string, env: Record<string, string>) {
  const folder = temporaryFolder()
  const [plain, secure] = [freePort(), freePort()]
  const options = ['admin off', 'skip_install_trust', `http_port ${plain}`, `https_port ${secure}`]
  writeFileSync(folder.file('Caddyfile'), configuration.replace('\n{\n', `\n{\n${options.join('\n')}\n`))
  const program = new LoggedProgram({
    command: [CADDY ?? '', 'run', '--config', folder.file('Caddyfile'), '--adapter', 'caddyfile'],
    env: { HOME: folder.path, XDG_DATA_HOME: folder.path, ...env },
    log: folder.file('output.log'),
  })
  return {
    url: `https://localhost:${secure}`,
    log: () => program.output(),
    async [Symbol.asyncDispose]() {
      await program.kill()
      folder[Symbol.dispose]()
    },
  }
}

/** What a proxy sees of a gateway: whether it is ready, and who answers. A standby answers 503, as the gateway itself does. */
function startGateway(name: string, isReady: boolean) {
  const gateway = { isReady, requests: 0, checks: 0 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      const isCheck = new URL(url).pathname === '/ready'
      gateway[isCheck ? 'checks' : 'requests']++
      return new Response(name, { status: gateway.isReady ? 200 : 503 })
    },
  })
  /** When the second check begins, the answer to the first one has been read. */
  const checkedTwice = async (): Promise<void> => {
    const before = gateway.checks
    await until(() => gateway.checks >= before + 2)
  }
  const { host } = server.url
  return Object.assign(gateway, { host, checkedTwice, [Symbol.asyncDispose]: () => server.stop(true) })
}

test('the configuration for Caddy has a default host, and sets HSTS for a year', () => {
  expect(CONFIGURATION).toContain('{$SGW_HOST:localhost} {')
  expect(CONFIGURATION).toContain('header Strict-Transport-Security max-age=31536000')
})

// These tests run Caddy if it is installed.
if (CADDY !== null) {
  test('Caddy and the gateway give the same answer to every body that is too large', async () => {
    await using stage = await behindCaddy()
    await expectBodyLimit(stage.url, stage.world)
    const answer = await get(`${stage.url}/v1/apps`, { headers: { 'x-request-id': 'my-own' } })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
    expect(answer.headers.get('x-request-id')).toBe('my-own')
  }, 10_000)

  test('Caddy logs no token of a link or a login if the gateway does not answer', async () => {
    // Caddy logs only unhandled errors.
    await using stage = await behindCaddy(CONFIGURATION.replace(/\thandle_errors \{[\s\S]*?\n\t\}\n/, ''))
    expect(await visitTokens(stage.url)).toEqual([400, 400, 400])
    await stage.world.running.stop()
    expect(await visitTokens(stage.url)).toEqual([502, 502, 502])
    expect(stage.log()).toContain('/v1/rc/connect?…')
    expect(stage.log()).not.toContain(CANARY)
  }, 10_000)

  test('with the options of compose.ha.yaml requests go to the gateway that is ready, and wait while there is none', async () => {
    await using one = startGateway('one', false)
    await using other = startGateway('other', true)
    await using caddy = startCaddy(CONFIGURATION, {
      SGW_UPSTREAM: `${one.host} ${other.host}`,
      SGW_UPSTREAM_OPTIONS: PAIR.services.caddy.environment.SGW_UPSTREAM_OPTIONS,
    })
    const ask = (): Promise<Response> => get(`${caddy.url}/v1/sms/messages`)
    const answer = await until(() => ask().catch(() => null), 10_000)
    expect({ status: answer.status, by: await answer.text() }).toEqual({ status: 200, by: 'other' })
    other.isReady = false
    await other.checkedTwice()
    const waiting = ask()
    await other.checkedTwice()
    one.isReady = true
    const late = await waiting
    expect({ status: late.status, by: await late.text() }).toEqual({ status: 200, by: 'one' })
    expect([one.requests, other.requests]).toEqual([1, 1])
  }, 30_000)

  test('through Caddy come sockets, lists and the console, at the root and below the prefix of the manual', async () => {
    {
      await using stage = await behindCaddy()
      await expectWholeWay(stage.url, stage.world)
    }
    const [lines = ''] = prefixLines('caddy')
    const own = lines.replace('127.0.0.1:3000', '{$SGW_UPSTREAM}')
    await using stage = await behindCaddy(
      CONFIGURATION.replace(/\treverse_proxy [^]*$/, () => `${own}}\n`),
      PREFIX,
    )
    await expectWholeWay(stage.url, stage.world)
    await expectPictures(stage.url, stage.world)
    await expectBodyLimit(stage.url, stage.world)
  }, 20_000)

  test('Caddy passes on the largest picture, answers a larger one as the gateway does, and leaves a slow one to its 408', async () => {
    const clock = manualClock()
    await using stage = await behindCaddy(CONFIGURATION, '', clock)
    await expectPictures(stage.url, stage.world)
    await expectSlowPicture(stage.url, stage.world, clock)
  }, 20_000)
}
