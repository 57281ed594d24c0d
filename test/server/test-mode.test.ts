import { expect, spyOn, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { readConfig } from '../../src/core/config.ts'
import { silentLog } from '../../src/core/log.ts'
import { PROVIDER_PACE } from '../../src/messages/receipts/poll-plan.ts'
import { type Development, openDevelopment } from '../../src/server/development/development.ts'
import { readTestConfig } from '../../src/server/development/test-mode.ts'
import { serve } from '../../src/server/serve.ts'
import { runSgw } from '../support/cli.ts'
import { openOperatorSocket } from '../support/operator.ts'
import { type PipedProgram, startProgram, temporaryFolder } from '../support/process.ts'
import { freePort } from '../support/program.ts'
import { until } from '../support/world.ts'

const CONTACT = '+15555550199'

interface TestServer {
  program: PipedProgram
  url: string
  control: string
  call<T = Record<string, unknown>>(method: string, path: string, body?: object): Promise<T>
}

/** Starts `bun run start --test` on a free port, and reads what it prints. */
async function startTestServer(env: Record<string, string>): Promise<AsyncDisposable & TestServer> {
  const program = startProgram('src/main.ts', ['--test'], { PORT: '0', ...env })
  const [, url = ''] = await program.printed(/sgw listens on +(\S+)/)
  const [, key = ''] = await program.printed(/API key +(\S+)/)
  const [, control = ''] = await program.printed(/Simulator +(\S+)/)
  return {
    program,
    url,
    control,
    async call(method, path, body) {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) ?? null })
      return (await answer.json()) as never
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

/** Opens the same gateway in the process of the test. */
async function openHere(
  values: Record<string, string>,
  isTest: boolean,
): Promise<AsyncDisposable & Pick<Development, 'running' | 'app' | 'connect'>> {
  const environment = { values: { PORT: '0', ...values }, readFile: () => '' }
  const result = isTest ? readTestConfig(environment) : readConfig(environment)
  if (!result.ok) throw new Error(result.problems.join('\n'))
  const { running, app, connect, stopSimulator } = await openDevelopment({
    config: result.config,
    log: silentLog,
    isTest,
  })
  return {
    running,
    app,
    connect,
    async [Symbol.asyncDispose]() {
      await running.stop()
      await stopSimulator()
    },
  }
}

/** What a start with `--test` prints, and the code that it ends with, when it refuses. It refuses before it begins anything. */
async function refusal(values: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const refused = { code: null as number | null, stderr: '' }
  using _write = spyOn(process.stderr, 'write').mockImplementation((text) => {
    refused.stderr += String(text)
    return true
  })
  const exit = (code: number): void => void (refused.code = code)
  await serve({ environment: { values, readFile: () => '' }, terminal: false, isTest: true, exit })
  return refused
}

const send = async ({ call }: TestServer, body: string): Promise<string> =>
  (await call<{ messageId: string }>('POST', '/v1/sms/send', { from: '+15555550100', to: CONTACT, body })).messageId

/** Waits until a message is delivered, and returns the time since it was sent. */
async function deliveryMs({ call }: TestServer, messageId: string): Promise<number> {
  return until(async () => {
    const path = `/v1/sms/${messageId}/timeline`
    const { entries } = await call<{ entries: { type: string; at: string }[] }>('GET', path)
    const [sent, delivered] = ['sent', 'delivered'].map((type) => entries.find((entry) => entry.type === type)?.at)
    return sent === undefined || delivered === undefined ? null : Math.max(1, Date.parse(delivered) - Date.parse(sent))
  })
}

test.concurrent('the listener opens when tenant, app and key exist, and a message that is sent at once goes out', async () => {
  using folder = temporaryFolder()
  const port = freePort()
  await using program = startProgram('src/main.ts', ['--test'], { PORT: String(port), DATABASE_URL: folder.database })
  const url = `http://127.0.0.1:${port}`
  await until(() => fetch(`${url}/health`).catch(() => null))
  const headers = { authorization: `Bearer ${readFileSync(folder.file('development-api-key'), 'utf8').trim()}` }
  const body = JSON.stringify({ from: '+15555550100', to: CONTACT, body: 'Hello' })
  const sent = await fetch(`${url}/v1/sms/send`, { method: 'POST', headers, body })
  expect(sent.status).toBe(202)
  const { messageId } = (await sent.json()) as { messageId: string }
  const state = await until(async () => {
    const answer = await fetch(`${url}/v1/sms/status/${messageId}`, { headers })
    const { status } = (await answer.json()) as { status: string }
    return ['sent', 'failed'].includes(status) ? status : null
  })
  expect(state).toBe('sent')
  expect(program.stderr).toBe('')
})

test.concurrent('there are no limits, delivery comes before RingCentral would be asked for the first time, and the printed control address shows what was sent', async () => {
  using folder = temporaryFolder()
  await using server = await startTestServer({ DATABASE_URL: folder.database })
  const ids = await Promise.all(Array.from({ length: 60 }, (_value, index) => send(server, `number ${index}`)))
  for (const ms of await Promise.all(ids.map((id) => deliveryMs(server, id))))
    expect(ms).toBeLessThan(PROVIDER_PACE.agesMs[0]!)
  const messages = (await (await fetch(`${server.control}/messages?direction=Outbound`)).json()) as { text: string }[]
  expect(messages).toHaveLength(60)
})

test('a variable of the environment comes before the test mode', async () => {
  using folder = temporaryFolder()
  await using gateway = await openHere({ DATABASE_URL: folder.database, KEY_LIMIT_PER_MINUTE: '2' }, true)
  const headers = { authorization: `Bearer ${gateway.app.apiKey}` }
  const ask = async (): Promise<object> =>
    (await (await fetch(`${gateway.running.url}/v1/apps`, { headers })).json()) as object
  const answers = [await ask(), await ask()]
  expect(answers.every((answer) => 'apps' in answer)).toBe(true)
  expect(await ask()).toMatchObject({ error: expect.any(String) })
})

test('refuses production and a real provider', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database, PORT: '0' }
  expect(await refusal({ ...env, NODE_ENV: 'production' })).toEqual({
    code: 78,
    stderr: 'The test mode needs the built-in simulator: unset NODE_ENV=production\n',
  })
  expect(await refusal({ ...env, RC_CLIENT_ID: 'id', RC_CLIENT_SECRET: 'a-client-key' })).toEqual({
    code: 78,
    stderr: 'The test mode needs the built-in simulator: unset RC_CLIENT_ID and RC_CLIENT_SECRET\n',
  })
  expect(existsSync(folder.file('sgw.db'))).toBe(false)
})

test.concurrent('sgw simulate makes the provider fail, and ends that', async () => {
  using folder = temporaryFolder()
  await using server = await startTestServer({ DATABASE_URL: folder.database })
  const simulate = async (...words: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await runSgw(['simulate', ...words, '--json'], { DATABASE_URL: folder.database })
    return code === 0 ? JSON.parse(stdout) : stderr
  }
  const timelineOnce = async (id: string, type: string): Promise<Record<string, unknown>[]> =>
    until(async () => {
      type Timeline = { entries: Record<string, unknown>[] }
      const { entries } = await server.call<Timeline>('GET', `/v1/sms/${id}/timeline`)
      return entries.some((entry) => entry['type'] === type) ? entries : null
    })
  const attempts = (entries: Record<string, unknown>[]): unknown[] =>
    entries.filter(({ type }) => type === 'attempt').map(({ httpStatus }) => httpStatus)

  expect(await simulate('fail')).toEqual({ situation: 'fail' })
  expect(attempts(await timelineOnce(await send(server, 'refused'), 'failed'))).toEqual([400])
  expect(await simulate('limit', '--times', '2')).toEqual({ situation: 'limit' })
  expect(attempts(await timelineOnce(await send(server, 'later'), 'sent'))).toEqual([429, 429, undefined])
  await simulate('undelivered', '--code', 'SMS-CAR-430')
  expect((await timelineOnce(await send(server, 'spam'), 'undelivered')).at(-1)).toMatchObject({
    errorCode: 'SMS-CAR-430',
    reason: 'Refused as spam',
  })
  await simulate('outage')
  const waiting = await send(server, 'waiting')
  await timelineOnce(waiting, 'attempt')
  await simulate('reset')
  expect(attempts(await timelineOnce(waiting, 'sent'))).toContain(503)
  const sendAt = new Date(Date.now() + 86_400_000).toISOString()
  const scheduled = await server.call<{ messageId: string }>('POST', '/v1/sms/send', {
    from: '+15555550100',
    to: CONTACT,
    body: 'tomorrow',
    sendAt,
  })
  const { now } = (await simulate('advance', '24h')) as { now: string }
  expect(now >= sendAt).toBe(true)
  await timelineOnce(scheduled.messageId, 'delivered')
  expect(await simulate('advance', 'tomorrow')).toContain('duration must be like 90s, 15m, 24h or 7d')
  expect(await simulate('fail', '--times', '0')).toContain('Give a whole number, 1 or more')
  expect(await simulate('fail', '--times', '1001')).toContain('times must be 1-1000')
})

test.concurrent('sgw stop ends the server, and returns when it has ended', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  await using server = await startTestServer(env)
  await runSgw(['simulate', 'outage'], env)
  await send(server, 'still waiting at the stop')
  const stopped = await runSgw(['stop', '--json'], env)
  expect(stopped).toEqual({ code: 0, stdout: `${JSON.stringify({ pid: server.program.child.pid })}\n`, stderr: '' })
  expect(server.program.child.exitCode ?? (await server.program.ended()).code).toBe(0)
  expect(existsSync(folder.file('sgw.db.sock'))).toBe(false)
  expect(await runSgw(['stop'], env)).toMatchObject({ code: 7, stderr: expect.stringContaining('No server answers') })
  await using next = await startTestServer(env)
  expect((await fetch(`${next.url}/health`)).status).toBe(200)
})

test('without --test the time does not move', async () => {
  using folder = temporaryFolder()
  await using gateway = await openHere({ DATABASE_URL: folder.database }, false)
  await gateway.connect()
  const operator = openOperatorSocket(gateway.running)
  expect(await runSgw(['simulate', 'advance', '1h'], { DATABASE_URL: folder.database })).toMatchObject({
    code: 1,
    stderr: 'Time moves only in a gateway for tests: start it with --test\n',
  })
  await operator.stop()
})
