import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SELF_SIGNED } from '../simulator/self-signed.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { temporaryFolder } from '../support/process.ts'
import { LoggedProgram, PROJECT, freePort } from '../support/program.ts'
import {
  PREFIX,
  expectBodyLimit,
  expectNoTokenLogged,
  expectPictures,
  expectSlowPicture,
  expectWholeWay,
  get,
  prefixLines,
  serving,
  worldBehindProxy,
} from './stage.ts'

const CONFIGURATION = readFileSync(join(PROJECT, 'deploy/haproxy.cfg'), 'utf8')
const HAPROXY = Bun.which('haproxy', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` })

/** Runs HAProxy with the delivered file in front of a gateway in production. Only addresses, paths and where it logs differ. */
async function behindHaproxy(configuration = CONFIGURATION, prefix = '', clock?: ManualClock) {
  const folder = temporaryFolder()
  const world = await worldBehindProxy(clock)
  const [plain, secure] = [freePort(), freePort()]
  const own = configuration
    .replace('bind :80', `bind 127.0.0.1:${plain}`)
    .replace(
      'bind :443 ssl crt /etc/haproxy/sms.example.com.pem',
      `bind 127.0.0.1:${secure} ssl crt ${folder.path}/pem`,
    )
    .replace('127.0.0.1:3000', new URL(world.url).host)
  writeFileSync(folder.file('pem'), `${SELF_SIGNED.cert}\n${SELF_SIGNED.key}\n`)
  writeFileSync(folder.file('haproxy.cfg'), `global\n  log stdout format raw local0\n${own}`)
  const program = new LoggedProgram({
    command: [HAPROXY ?? '', '-db', '-f', folder.file('haproxy.cfg')],
    env: {},
    log: folder.file('output.log'),
  })
  const url = `https://127.0.0.1:${secure}${prefix}`
  await serving(url)
  return {
    world,
    url,
    plainUrl: `http://127.0.0.1:${plain}`,
    log: () => program.output(),
    async [Symbol.asyncDispose]() {
      await program.kill()
      await world[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

test('the configuration for HAProxy has a log format of its own, which names neither queries nor headers', () => {
  expect(CONFIGURATION.match(/^ *log-format .*$/gm)).toEqual([expect.not.stringMatching(/%(HU|HQ|r\b|hr|\[)/)])
  expect(CONFIGURATION).not.toMatch(/httplog|capture/)
})

// These tests run HAProxy if it is installed.
if (HAPROXY !== null) {
  test('through HAProxy come sockets, lists and the console, at the root and below the prefix of the manual', async () => {
    {
      await using stage = await behindHaproxy()
      await expectWholeWay(stage.url, stage.world)
    }
    const [frontend = '', backend = ''] = prefixLines('haproxy')
    const below = CONFIGURATION.replace('  default_backend sgw\n', () => frontend).replace(
      'backend sgw\n  mode http\n',
      (text) => `${text}${backend}`,
    )
    await using stage = await behindHaproxy(below, PREFIX)
    await expectWholeWay(stage.url, stage.world)
    await expectPictures(stage.url, stage.world, ['told'])
    await expectBodyLimit(stage.url, stage.world, ['told'])
  })

  test('HAProxy and the gateway give the same answer to every body whose length is told and too large, and no forwarded header of a client counts', async () => {
    await using stage = await behindHaproxy()
    // It cannot count the others.
    await expectBodyLimit(stage.url, stage.world, ['told'])
    const headers = { 'x-forwarded-proto': 'http', 'x-request-id': 'my-own' }
    const answer = await get(`${stage.url}/v1/apps`, { headers })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('x-request-id')).toBe('my-own')
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
  })

  test('HAProxy logs no token of a link or a login, even if the gateway does not answer', async () => {
    await using stage = await behindHaproxy()
    await expectNoTokenLogged(stage, 503)
  })

  test('HAProxy passes on the largest picture, answers a larger one as the gateway does, and leaves a slow one to its 408', async () => {
    const clock = manualClock()
    await using stage = await behindHaproxy(CONFIGURATION, '', clock)
    await expectPictures(stage.url, stage.world, ['told'])
    await expectSlowPicture(stage.url, stage.world, clock)
  }, 20_000)
}
