import { expect, test } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import { sgwIn } from '../support/cli.ts'
import { folderInMemory } from '../support/memory-folder.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { createWorld } from '../support/world.ts'

const quiet = { connect: false, work: false }

const loginOf = (url: string): string => url.split('#login=')[1] ?? ''

test.concurrent('sgw console prints a link that signs in once; --revoke ends the session', async () => {
  await using world = await createWorld(quiet)
  const operator = openOperatorSocket(world)
  const { code, stdout } = await sgwIn(world.folder, ['console'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^url +http:\/\/localhost:\d+\/console\/#login=sgwlogin_[\w-]{43}\nexpiresAt +\S+\n$/)
  const link = JSON.parse((await sgwIn(world.folder, ['console', '--json'])).stdout) as { url: string }
  expect(Object.keys(link)).toEqual(['url', 'expiresAt'])
  const signIn = () => world.call('POST', '/v1/operator/session', { key: null, body: { login: loginOf(link.url) } })
  const { token } = (await (await signIn()).json()) as { token: string }
  expect((await signIn()).status).toBe(401)
  const status = () => world.call('GET', '/v1/operator/status', { key: token })
  expect((await status()).status).toBe(200)
  const revoked = await sgwIn(world.folder, ['console', '--revoke', '--json'])
  expect(JSON.parse(revoked.stdout)).toEqual({ revoked: 2 })
  expect((await status()).status).toBe(401)
  await operator.stop()
})

test.concurrent('a link that was made without a server signs in to the next one', async () => {
  await using world = await createWorld(quiet)
  await world.running.stop()
  const made = await sgwIn(world.folder, ['console', '--json'])
  expect(made.stderr).toBe('No server answers: start one (sgw start) before you open the link\n')
  const { url } = JSON.parse(made.stdout) as { url: string }
  await using next = await createWorld({ ...quiet, folder: world.folder })
  const answer = await next.call('POST', '/v1/operator/session', { key: null, body: { login: loginOf(url) } })
  expect(answer.status).toBe(200)
})

test.concurrent('sgw console makes no file, and refuses where the console is off', async () => {
  const folder = folderInMemory()
  expect(await sgwIn(folder, ['console'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no database') })
  expect(readdirSync(folder)).toEqual([])
  await sgwIn(folder, ['tenant', 'create', '--name', 'Acme'])
  expect(await sgwIn(folder, ['console'], { CONSOLE: 'off' })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'The console is off: start the server without CONSOLE=off\n',
  })
  rmSync(folder, { recursive: true })
})
