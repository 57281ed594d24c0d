import { expect, test } from 'bun:test'
import { freePort } from '../support/program.ts'
import { runSgw } from '../support/cli.ts'
import { startProgram, temporaryFolder } from '../support/process.ts'
import { FROM, TO, until } from '../support/world.ts'

interface Finding {
  check: string
  level: string
  detail: string
}

/**
 * Of the loopback network, but not 127.0.0.1: like an address of a network card, it does not answer calls to `localhost`. Only Linux has it
 * without a setting.
 */
const OTHER_HOST = '127.0.0.2'

test.if(process.platform === 'linux')('the built-in simulator posts its events where HOST says', async () => {
  using folder = temporaryFolder()
  const port = freePort()
  const env = { DATABASE_URL: folder.database, HOST: OTHER_HOST, PORT: String(port) }
  const url = `http://${OTHER_HOST}:${port}`
  await using program = startProgram('src/main.ts', [], env)
  await until(async () => (await fetch(`${url}/ready`).catch(() => null))?.ok ?? false, 30_000)
  const findingOf = async (check: string): Promise<Finding | undefined> =>
    (JSON.parse((await runSgw(['doctor', '--json'], env)).stdout) as Finding[]).find((one) => one.check === check)
  await until(async () => (await findingOf('subscriptions'))?.level === 'ok', 30_000)
  const text = ['simulate', 'inbound', '--from', TO, '--to', FROM, '--text', 'hello']
  expect((await runSgw(text, env)).code).toBe(0)
  await until(async () => (await runSgw(['messages', 'list', '--json'], env)).stdout.includes('"hello"'), 20_000)
  expect(program.stderr).not.toContain('error')
})
