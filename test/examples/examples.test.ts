import { expect, test } from 'bun:test'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startTestGateway } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, finished } from '../support/program.ts'
import { until } from '../support/world.ts'

const REMINDER = join(PROJECT, 'examples/appointment-reminder')

test.concurrent("the appointment reminder's own tests pass", async () => {
  const { code, stderr } = await finished([process.execPath, 'test', '--timeout', '30000'], {}, REMINDER)
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(' 6 pass') })
}, 120_000)

test.concurrent('the appointment reminder has no type error', async () => {
  const tsc = join(PROJECT, 'node_modules/.bin/tsc')
  // Each thread checks what they share once more, which doubles the processor time.
  expect(await finished([tsc, '--noEmit', '--singleThreaded'], {}, REMINDER)).toMatchObject({ code: 0, stdout: '' })
}, 120_000)

test.concurrent('text-me-when-done runs the command and texts how it ended', async () => {
  await using gateway = await startTestGateway()
  const phone = gateway.phone('+15555550199')
  const env = { SGW_URL: gateway.url, SGW_KEY: gateway.apiKey, SGW_TO: phone.number }
  expect(await textMe(env, 'echo', 'hard work')).toEqual({
    code: 0,
    stdout: 'hard work\n',
    stderr: expect.stringMatching(/^Texted \+15555550199: echo hard work is done after \d+ s\n$/),
  })
  await phone.waitFor(/^echo hard work is done after \d+ s$/)
  expect((await textMe(env, 'sh', '-c', 'exit 3')).code).toBe(3)
  await phone.waitFor('sh -c exit 3 failed with 3')
})

test.concurrent('text-me-when-done says before the work what would keep it from texting', async () => {
  await using gateway = await startTestGateway()
  const env = { SGW_URL: gateway.url, SGW_KEY: gateway.apiKey, SGW_TO: '+15555550199' }
  const problems = [
    [env, [], 'Usage: '],
    [{ ...env, SGW_TO: '5555550199' }, ['echo'], 'Usage: '],
    [{ ...env, SGW_KEY: 'sgw_wrong' }, ['echo'], 'Invalid API key\n'],
    [
      { ...env, SGW_FROM: '+15555550111' },
      ['echo'],
      'The gateway cannot send from +15555550111: it has +15555550100, ',
    ],
  ] as const
  for (const [values, command, text] of problems)
    expect(await textMe(values, ...command)).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(text),
    })
})

test.concurrent('text-me-when-done ends with the code of the work, also if the gateway is gone by then', async () => {
  await using gateway = await startTestGateway()
  using folder = temporaryFolder()
  const env = { SGW_URL: gateway.url, SGW_KEY: gateway.apiKey, SGW_TO: '+15555550199' }
  const work = `touch ${folder.file('begun')}; while [ -e ${folder.file('begun')} ]; do sleep 0.02; done; exit 3`
  const ending = textMe(env, 'sh', '-c', work)
  await until(() => existsSync(folder.file('begun')))
  await gateway.stop()
  rmSync(folder.file('begun'))
  expect(await ending).toMatchObject({ code: 3, stderr: expect.stringMatching(/^No SMS so far: POST http/) })
})

const textMe = (env: Record<string, string>, ...command: string[]) =>
  finished([process.execPath, 'examples/text-me-when-done.ts', ...command], env)
