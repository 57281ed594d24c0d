import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startTestGateway } from '../../src/testing/index.ts'
import { PROJECT, finished } from '../support/program.ts'

const REMINDER = join(PROJECT, 'examples/appointment-reminder')

test.concurrent("the appointment reminder's own tests pass", async () => {
  const { code, stderr } = await finished([process.execPath, 'test', '--timeout', '30000'], {}, REMINDER)
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(' 6 pass') })
}, 120_000)

test.concurrent('the appointment reminder has no type error', async () => {
  const tsc = join(PROJECT, 'node_modules/.bin/tsc')
  expect(await finished([tsc, '--noEmit'], {}, REMINDER)).toMatchObject({ code: 0, stdout: '' })
}, 120_000)

test.concurrent('text-me-when-done runs the command and texts how it ended', async () => {
  await using gateway = await startTestGateway()
  const phone = gateway.phone('+15555550199')
  const env = { SGW_URL: gateway.url, SGW_KEY: gateway.apiKey, SGW_TO: phone.number }
  const run = (...command: string[]) => finished([process.execPath, 'examples/text-me-when-done.ts', ...command], env)
  expect(await run('echo', 'hard work')).toEqual({ code: 0, stdout: 'hard work\n', stderr: '' })
  await phone.waitFor(/^echo hard work is done after \d+ s$/)
  expect((await run('sh', '-c', 'exit 3')).code).toBe(3)
  await phone.waitFor('sh -c exit 3 failed with 3')
})
