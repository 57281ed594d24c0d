import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sgw } from '../../src/client/client.ts'
import { type TestGateway, startTestGateway } from '../../src/testing/index.ts'
import { BASE_ENVIRONMENT } from '../support/environment.ts'
import { PipedProgram, temporaryFolder } from '../support/process.ts'
import { PROJECT, finished } from '../support/program.ts'
import { until } from '../support/world.ts'

// These tests run the programs of docs/recipes.md unchanged. Those for a shell are in recipes.long.ts and recipes-ci.long.ts.

interface Remind {
  remind(sgw: Sgw, from: string, appointment: { id: string; phone: string; at: Date }): Promise<string>
  forget(sgw: Sgw, messageId: string): Promise<boolean>
}

interface Codes {
  OneTimeCodes: new (
    sgw: Sgw,
    from: string,
  ) => { send(phone: string): Promise<boolean>; isRight(phone: string, given: string): boolean }
}

const FILES = ['answer.ts', 'remind.ts', 'one-time-codes.ts'] as const
const PATIENT = '+15555550199'
const DAY_MS = 86_400_000

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())

beforeAll(() => {
  mkdirSync(folder.file('node_modules'))
  symlinkSync(PROJECT, folder.file('node_modules/sgw'))
  for (const name of ['bun-types', '@types'])
    symlinkSync(join(PROJECT, 'node_modules', name), folder.file(`node_modules/${name}`))
  for (const file of [...FILES, 'ask.py']) copyFileSync(join(PROJECT, 'examples', file), folder.file(file))
})

const load = async <Module>(file: (typeof FILES)[number]): Promise<Module> =>
  (await import(folder.file(file))) as Module

const fromOf = ({ numbers }: TestGateway): string => numbers[0] ?? ''
const textsOn = (gateway: TestGateway): string[] => gateway.phone(PATIENT).inbox.map(({ text }) => text)

const ask = (gateway: TestGateway, key: string): PipedProgram =>
  new PipedProgram(
    Bun.spawn(['python3', folder.file('ask.py'), fromOf(gateway), PATIENT, 'Water the plants?'], {
      env: { ...BASE_ENVIRONMENT, SGW_URL: gateway.url, SGW_KEY: key },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )

// Python is not needed to develop sgw, so a machine without it leaves the test out.
test.if(Bun.which('python3') !== null)('the Python program prints the answer, or why there is none', async () => {
  await using gateway = await startTestGateway()
  await using program = ask(gateway, gateway.apiKey)
  await until(() => textsOn(gateway).includes('Water the plants?'))
  await gateway.phone('+15555550111').reply('Not for you')
  await gateway.phone(PATIENT).reply('Yes')
  expect(await program.ended()).toEqual({ code: 0, stdout: 'Yes\n', stderr: '' })
  await using refused = ask(gateway, 'sgw_wrong')
  expect(await refused.ended()).toMatchObject({ code: 1, stderr: expect.stringContaining('HTTP Error 401') })
})

test('the programs have the right types', async () => {
  const page = readFileSync(join(PROJECT, 'docs/recipes.md'), 'utf8')
  writeFileSync(folder.file('many.ts'), /```ts\n([^]*?)```/.exec(page)?.[1] ?? '')
  const options =
    `--ignoreConfig --noEmit --singleThreaded --strict --skipLibCheck --target esnext --module esnext --moduleResolution bundler
    --allowImportingTsExtensions --customConditions bun --types bun-types`.split(/\s+/)
  const { stdout } = await finished(
    [join(PROJECT, 'node_modules/.bin/tsc'), ...options, ...FILES, 'many.ts'],
    {},
    folder.path,
  )
  expect(stdout).toBe('')
})

test('the conversation answers each text once, also after it was killed before it kept its cursor', async () => {
  await using gateway = await startTestGateway()
  const phone = gateway.phone(PATIENT)
  const start = (): PipedProgram =>
    new PipedProgram(
      Bun.spawn([process.execPath, folder.file('answer.ts')], {
        cwd: folder.path,
        env: { ...BASE_ENVIRONMENT, SGW_URL: gateway.url, SGW_KEY: gateway.apiKey },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    )
  const before = await gateway.client.eventCursor()
  writeFileSync(folder.file('cursor'), before)
  {
    await using _ = start()
    await phone.reply('PIZZA')
    await phone.waitFor('Which size, small or large?')
    await phone.reply(' Large ')
    await phone.waitFor('One large pizza is on its way.')
    await until(() => readFileSync(folder.file('cursor'), 'utf8') !== before)
  }
  writeFileSync(folder.file('cursor'), before)
  await using again = start()
  await phone.reply('Anything else')
  await until(() => textsOn(gateway).length >= 3)
  expect(textsOn(gateway)).toEqual([
    'Which size, small or large?',
    'One large pizza is on its way.',
    'Which size, small or large?',
  ])
  expect(again.stderr).toBe('')
})

test('a reminder comes a day ahead, once however often it is planned, and not after it was taken back', async () => {
  await using gateway = await startTestGateway()
  const { remind, forget } = await load<Remind>('remind.ts')
  const at = new Date(Date.now() + 3 * DAY_MS)
  const appointment = { id: 'visit-1', phone: PATIENT, at }
  const from = fromOf(gateway)
  const messageId = await remind(gateway.client, from, appointment)
  expect(await remind(gateway.client, from, appointment)).toBe(messageId)
  const moved = await remind(gateway.client, from, { id: 'visit-2', phone: PATIENT, at })
  expect(await forget(gateway.client, moved)).toBe(true)
  await gateway.advance('47h')
  expect(textsOn(gateway)).toEqual([])
  await gateway.advance('1h')
  await gateway.phone(PATIENT).waitFor('Answer C to confirm')
  expect(textsOn(gateway)).toHaveLength(1)
  expect(await forget(gateway.client, messageId)).toBe(false)
})

test('a one-time code is right once, another one must wait, and after five tries none is right', async () => {
  await using gateway = await startTestGateway()
  const { OneTimeCodes } = await load<Codes>('one-time-codes.ts')
  const codes = new OneTimeCodes(gateway.client, fromOf(gateway))
  expect(codes.isRight(PATIENT, '000000')).toBe(false)
  expect(await codes.send(PATIENT)).toBe(true)
  const { text } = await gateway.phone(PATIENT).waitFor(/^\d{6} is your code for example\.com/)
  const code = text.slice(0, 6)
  expect(await codes.send(PATIENT)).toBe(false)
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0')
  const tries = [wrong, ` ${code}`, code].map((given) => codes.isRight(PATIENT, given))
  expect(tries).toEqual([false, true, false])
  const other = '+15555550142'
  await codes.send(other)
  const second = (await gateway.phone(other).waitFor('is your code')).text.slice(0, 6)
  for (let count = 0; count < 5; count++) expect(codes.isRight(other, 'x')).toBe(false)
  expect(codes.isRight(other, second)).toBe(false)
})
