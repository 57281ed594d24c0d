import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SELF_SIGNED } from '../simulator/self-signed.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, LoggedProgram, freePort } from '../support/program.ts'
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

const CONFIGURATION = readFileSync(join(PROJECT, 'deploy/nginx.conf'), 'utf8')
const NGINX = Bun.which('nginx', { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` })

/** Runs nginx with the delivered file in front of a gateway in production. Only addresses and paths differ. */
async function behindNginx(configuration = CONFIGURATION, prefix = '', clock?: ManualClock) {
  const folder = temporaryFolder()
  const world = await worldBehindProxy(clock)
  const [plain, secure] = [freePort(), freePort()]
  const site = configuration
    .replaceAll(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${plain};`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${secure} ssl`)
    .replaceAll('/etc/letsencrypt/live/sms.example.com/', `${folder.path}/`)
    .replaceAll('/var/log/nginx/', `${folder.path}/`)
    .replace('127.0.0.1:3000', new URL(world.url).host)
  writeFileSync(folder.file('fullchain.pem'), SELF_SIGNED.cert)
  writeFileSync(folder.file('privkey.pem'), SELF_SIGNED.key)
  writeFileSync(folder.file('site.conf'), site)
  writeFileSync(folder.file('nginx.conf'), mainFile(folder.path))
  const program = new LoggedProgram({
    command: [NGINX ?? '', '-c', folder.file('nginx.conf'), '-p', folder.path, '-e', folder.file('error.log')],
    env: {},
    log: folder.file('output.log'),
  })
  const url = `https://127.0.0.1:${secure}${prefix}`
  await serving(url)
  return {
    world,
    url,
    plainUrl: `http://127.0.0.1:${plain}`,
    log: () => ['sgw.log', 'error.log'].map((name) => readFileSync(folder.file(name), 'utf8')).join(''),
    async [Symbol.asyncDispose]() {
      await program.kill()
      await world[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

const mainFile = (folder: string): string => `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log info;
events {}
http {
  access_log off;
  ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  include ${folder}/site.conf;
}
`

test('the configuration for nginx logs neither queries nor referrers', () => {
  expect(CONFIGURATION.match(/access_log \/var\/log\/nginx\/sgw.log sgw;/g)).toHaveLength(2)
  expect(CONFIGURATION).not.toMatch(
    /log_format[^;]*\$(request|request_uri|args|query_string|arg_\w+|http_referer)\b(?!_)/,
  )
})

// These tests run nginx if it is installed.
if (NGINX !== null) {
  test('nginx and the gateway give the same answer to every body that is too large', async () => {
    await using stage = await behindNginx()
    await expectBodyLimit(stage.url, stage.world)
  })

  test('nginx forwards a request id, creates one if there is none, and sets HSTS for a year', async () => {
    await using stage = await behindNginx()
    const idOf = async (given: string | null): Promise<string | null> => {
      const headers: Record<string, string> = given === null ? {} : { 'x-request-id': given }
      const answer = await get(`${stage.url}/v1/apps`, { headers })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
      return answer.headers.get('x-request-id')
    }
    expect(await idOf('my-own:id/1')).toBe('my-own:id/1')
    for (const none of [null, 'x'.repeat(129), 'with space']) expect(await idOf(none)).toMatch(/^[0-9a-f]{32}$/)
    expect(stage.log()).toContain(' my-own:id/1 ')
  })

  test('nginx logs no token of a link or a login, even if the gateway does not answer', async () => {
    await using stage = await behindNginx()
    await expectNoTokenLogged(stage, 502)
  })

  test('through nginx come sockets, lists and the console, at the root and below the prefix of the manual', async () => {
    {
      await using stage = await behindNginx()
      await expectWholeWay(stage.url, stage.world)
    }
    const [lines = ''] = prefixLines('nginx')
    await using stage = await behindNginx(
      CONFIGURATION.replace(/ {2}location \/ \{[^]*$/, () => `${lines}}\n`),
      PREFIX,
    )
    await expectWholeWay(stage.url, stage.world)
    await expectPictures(stage.url, stage.world)
    await expectBodyLimit(stage.url, stage.world)
    await expectNoTokenLogged(stage, 502)
  })

  test('nginx passes on the largest picture, answers a larger one as the gateway does, and leaves a slow one to its 408', async () => {
    const clock = manualClock()
    await using stage = await behindNginx(CONFIGURATION, '', clock)
    await expectPictures(stage.url, stage.world)
    await expectSlowPicture(stage.url, stage.world, clock)
  }, 20_000)
}
