import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startTestGateway } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, finished } from '../support/program.ts'
import { until } from '../support/world.ts'

// The program of docs/recipes.md that waits, unchanged. It needs curl and jq.

setDefaultTimeout(60_000)

test('CI waits for a text: the first that matches and came after the command began, else it fails', async () => {
  await using gateway = await startTestGateway()
  using folder = temporaryFolder()
  const env = { SGW_URL: gateway.url, SGW_KEY: gateway.apiKey }
  const wait = (pattern: string, command: string, looks = '10') =>
    finished([join(PROJECT, 'examples/wait-for-text'), pattern, 'sh', '-c', command], { ...env, SGW_LOOKS: looks })
  const service = gateway.phone('+15555550177')
  await service.reply('111111 is your code')
  const texting = wait('is your code', `touch ${folder.file('asked')}; echo asked`)
  await until(() => existsSync(folder.file('asked')))
  await service.reply('Welcome')
  await service.reply('222222 is your code')
  expect(await texting).toEqual({ code: 0, stdout: '222222 is your code\n', stderr: 'asked\n' })
  expect(await wait('is your code', 'exit 3')).toMatchObject({ code: 3, stdout: '' })
  const none = { code: 1, stdout: '', stderr: 'No text matches is your code\n' }
  expect(await wait('is your code', 'true', '1')).toEqual(none)
})
