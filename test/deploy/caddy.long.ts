import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, LoggedProgram, freePort } from '../support/program.ts'
import { CANARY, expectBodyLimit, get, serving, visitTokens, worldBehindProxy } from './stage.ts'

const CONFIGURATION = readFileSync(join(PROJECT, 'deploy/Caddyfile'), 'utf8')
const CADDY = Bun.which('caddy')

/** Runs Caddy with the delivered file, without a host name. Only ports and the folder of certificates differ. */
async function behindCaddy(configuration = CONFIGURATION) {
  const folder = temporaryFolder()
  const world = await worldBehindProxy()
  const [plain, secure] = [freePort(), freePort()]
  const options = ['admin off', 'skip_install_trust', `http_port ${plain}`, `https_port ${secure}`]
  writeFileSync(folder.file('Caddyfile'), configuration.replace('\n{\n', `\n{\n${options.join('\n')}\n`))
  const program = new LoggedProgram({
    command: [CADDY ?? '', 'run', '--config', folder.file('Caddyfile'), '--adapter', 'caddyfile'],
    env: { HOME: folder.path, XDG_DATA_HOME: folder.path, SGW_UPSTREAM: new URL(world.url).host },
    log: folder.file('output.log'),
  })
  const url = `https://localhost:${secure}`
  await serving(url)
  return {
    world,
    url,
    log: () => program.output(),
    async [Symbol.asyncDispose]() {
      await program.kill()
      await world[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
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
}
