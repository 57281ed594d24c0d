import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SimulatorControl } from '../../src/simulator/simulator.ts'
import { ALICE, answer, basic, BOB, CUSTOMER, REDIRECT, SELF, smsBody, startHarness } from './harness.ts'

const knob = (url: string, name: string, argument?: unknown) =>
  answer(
    fetch(`${url}/control/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(argument === undefined ? {} : { body: JSON.stringify(argument) }),
    }),
  )

test('every knob is available over HTTP under its name', async () => {
  await using harness = await startHarness()
  const listed = await answer(fetch(`${harness.simulator.url}/control`))
  expect(listed.body['knobs']).toEqual(Object.keys(harness.control))
  expect((await knob(harness.simulator.url, 'nothing')).status).toBe(404)
  expect((await knob(harness.simulator.url, 'constructor')).status).toBe(404)
})

test('HTTP and the process control the same state', async () => {
  await using harness = await startHarness()
  const { url } = harness.simulator
  const added = await knob(url, 'addExtension', {
    name: 'Bob',
    numbers: [BOB, { phoneNumber: '+18445550188', features: [] }],
  })
  expect(added.body).toMatchObject({
    name: 'Bob',
    accountId: '809640016',
    numbers: [{ phoneNumber: BOB }, { features: [] }],
  })
  expect(harness.control.extensions()).toHaveLength(2)
  const injected = await knob(url, 'injectSms', { to: BOB, text: 'over HTTP' })
  expect(harness.control.messages()).toMatchObject([
    { messageId: injected.body['messageId'], text: 'over HTTP', from: CUSTOMER, to: [BOB] },
  ])
  const messages = await answer(fetch(`${url}/control/messages?extensionId=${harness.alice}&limit=5`))
  expect(messages.text).toBe('[]')
  expect((await knob(url, 'denyNextLogin')).text).toBe('null')
  expect((await harness.authorize()).searchParams.get('error')).toBe('access_denied')
})

/** What each knob says without its argument, and with an empty one; null if it needs none. */
const WITHOUT_ARGUMENT: Readonly<Record<keyof SimulatorControl, string | null>> = {
  addAccount: null,
  addExtension: null,
  addQueue: 'Cannot use recipients: it is missing',
  addNumber: 'Cannot use phoneNumber: it is missing',
  removeNumber: 'Cannot use extensionId: it is missing',
  setExtensionStatus: 'Cannot use extensionId: it is missing',
  extensions: null,
  nextLogin: 'Cannot use extensionId: it is missing',
  denyNextLogin: null,
  addJwt: 'Cannot use extensionId: it is missing',
  removeJwt: 'Cannot use jwt: it is missing',
  addConsent: 'Cannot use to: it is missing',
  sessions: null,
  revokeTokens: 'Cannot use extensionId: it is missing',
  expireTokens: 'Cannot use extensionId: it is missing',
  subscriptions: null,
  blacklistSubscription: 'Cannot use subscriptionId: it is missing',
  expireSubscription: 'Cannot use subscriptionId: it is missing',
  deleteSubscription: 'Cannot use subscriptionId: it is missing',
  sockets: null,
  faultSockets: 'Cannot use kind: it is missing, and may be "close", "cut", ',
  injectSms: null,
  planNextSms: 'Cannot use messageStatus: it is missing, and may be "Delivered", "SendingFailed", "DeliveryFailed"',
  setMessageStatus: 'Cannot use messageId: it is missing',
  resolveThreads: null,
  messages: null,
  fault: 'Cannot use route: it is missing',
  randomFaults: 'Cannot use seed: it is missing',
  clearFaults: null,
  reset: null,
  faultEvents: 'Cannot use kind: it is missing, and may be "drop", "delay", "duplicate"',
  clearEventFaults: null,
  setLimits: null,
  configure: null,
  requests: null,
  clearRequests: null,
  calls: null,
  simulate: 'Cannot use situation: it is missing, and may be "fail", "limit", "undelivered", "outage", "reset"',
  setNextFault: 'Invalid option: expected one of "429"|"5xx-after"|"slow"|"opted-out"',
  nextFault: null,
  counters: null,
  settled: null,
}

test('a knob without what it needs says what is missing, and changes nothing', async () => {
  await using harness = await startHarness()
  const { url } = harness.simulator
  await harness.login()
  const before = JSON.stringify([harness.control.sessions(), harness.control.nextFault()])
  for (const [name, error] of Object.entries(WITHOUT_ARGUMENT))
    for (const argument of [undefined, {}]) {
      const { status, body } = await knob(url, name, argument)
      const expected = error === null ? undefined : expect.stringContaining(error)
      expect({ name, status, error: body?.['error'] }).toEqual({
        name,
        status: error === null ? 200 : 400,
        error: expected,
      })
    }
  expect(JSON.stringify([harness.control.sessions(), harness.control.nextFault()])).toBe(before)
  expect(Object.keys(WITHOUT_ARGUMENT).toSorted()).toEqual(Object.keys(harness.control).toSorted())
})

test('a member that is unknown or of the wrong kind is refused by every knob', async () => {
  await using harness = await startHarness()
  const { url } = harness.simulator
  const errors: unknown[] = []
  for (const [name, argument] of [
    ['planNextSms', { messageStatus: 'Lost' }],
    ['planNextSms', { messageStatus: 'Delivered', code: 'SMS-CAR-430' }],
    ['fault', { route: 'sms' }],
    ['fault', { route: 'sms', fault: { kind: 'respond' } }],
    ['fault', { route: 'sms', fault: { kind: 'break' } }],
    ['randomFaults', { seed: 1, rules: [{ route: 'sms', rate: 2, fault: { kind: 'reset' } }] }],
    ['faultEvents', { kind: 'drop', call: 2 }],
    ['setLimits', { medium: 'many' }],
    ['expireTokens', { extensionId: harness.alice, which: 'all' }],
    ['injectSms', { body: 'Hello' }],
    ['simulate', { situation: 'fail', times: -1 }],
  ] as const)
    errors.push(await knob(url, name, argument).then(({ status, body }) => [name, status, body['error']]))
  expect(errors).toEqual([
    ['planNextSms', 400, expect.stringContaining('Cannot use messageStatus: ')],
    ['planNextSms', 400, 'Unknown setting code'],
    ['fault', 400, 'Cannot use fault: it is missing'],
    ['fault', 400, 'Cannot use fault.status: it is missing'],
    ['fault', 400, expect.stringContaining('Cannot use fault.kind: ')],
    ['randomFaults', 400, expect.stringContaining('Cannot use rules.0.rate: ')],
    ['faultEvents', 400, 'Unknown setting call'],
    ['setLimits', 400, expect.stringContaining('Cannot use medium: ')],
    ['expireTokens', 400, expect.stringContaining('Cannot use which: ')],
    ['injectSms', 400, 'Unknown setting body'],
    ['simulate', 400, expect.stringContaining('Cannot use times: ')],
  ])
})

test('a wrong argument is answered with 400 and the reason', async () => {
  await using harness = await startHarness()
  const { url } = harness.simulator
  const refused = [
    await knob(url, 'nextLogin', { extensionId: '5' }),
    await knob(url, 'configure', { sentAfter: 5 }),
    await knob(url, 'setLimits', { medum: 5 }),
    await knob(url, 'setLimits', { constructor: 5 }),
    await knob(url, 'addNumber', { extensionId: harness.alice, phoneNumber: ALICE }),
    await knob(url, 'removeNumber', { extensionId: harness.alice, phoneNumber: BOB }),
    await knob(url, 'addExtension', { numbers: ['5550102'] }),
    await knob(url, 'addExtension', { name: 7 }),
    await knob(url, 'injectSms', { to: '+19995550000' }),
  ]
  expect(refused.map((one) => [one.status, one.body.error])).toEqual([
    [400, 'Unknown extension 5'],
    [400, 'Unknown setting sentAfter'],
    [400, 'Unknown setting medum'],
    [400, 'Unknown setting constructor'],
    [400, `Extension ${harness.alice} has ${ALICE} already: remove it first`],
    [400, `Extension ${harness.alice} has no number ${BOB}`],
    [400, 'Cannot use numbers.0.phoneNumber: Write the number with + and its country code, such as +15555550100'],
    [400, 'Cannot use name: Invalid input: expected string, received number'],
    [400, 'No extension owns +19995550000'],
  ])
})

test('a web page cannot use the knobs: the host must be this machine, the origin absent or its own, the type JSON', async () => {
  await using harness = await startHarness()
  const { url } = harness.simulator
  const host = new URL(url).host
  const json = { 'content-type': 'application/json' }
  const revoke = (headers: Record<string, string>, method = 'POST'): Promise<number> =>
    answer(
      fetch(`${url}/control/revokeTokens${method === 'GET' ? `?extensionId=${harness.alice}` : ''}`, {
        method,
        headers,
        ...(method === 'GET' ? {} : { body: JSON.stringify({ extensionId: harness.alice }) }),
      }),
    ).then((one) => one.status)
  await harness.login()
  const before = harness.control.sessions()
  expect(before).toHaveLength(1)
  for (const foreign of [
    'evil.example.com',
    '127.0.0.1.example.com',
    'localhost.example.com',
    `evil@${host}`,
    '10.0.0.1',
  ])
    expect([foreign, await revoke({ ...json, host: foreign })]).toEqual([foreign, 403])
  for (const origin of ['https://evil.example.com', 'null', 'http://127.0.0.1:1', `https://${host}`])
    expect([origin, await revoke({ ...json, origin })]).toEqual([origin, 403])
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
  ])
    expect([type, await revoke({ 'content-type': type })]).toEqual([type, 415])
  expect(await revoke({}, 'GET')).toBe(405)
  expect((await fetch(`${url}/control/sessions`, { headers: { host: 'evil.example.com' } })).status).toBe(403)
  expect(harness.control.sessions()).toEqual(before)
  expect(await revoke({ 'content-type': 'application/json; charset=utf-8', origin: url })).toBe(200)
  expect(harness.control.sessions()).toEqual([])
})

test('the request log shows each request with its caller, and the counters count them', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  harness.control.clearRequests()
  await harness.sms(access_token)
  await harness.api(access_token, 'GET', `${SELF}/message-store?direction=Outbound`)
  await harness.api('nonsense', 'GET', SELF)
  const at = harness.clock.now()
  const base = { at, fault: null }
  expect(harness.control.requests()).toEqual([
    {
      ...base,
      method: 'POST',
      path: `/restapi/v1.0${SELF}/sms`,
      route: 'sms',
      extensionId: harness.alice,
      status: 200,
    },
    {
      ...base,
      method: 'GET',
      path: `/restapi/v1.0${SELF}/message-store?direction=Outbound`,
      route: 'message-store',
      extensionId: harness.alice,
      status: 200,
    },
    { ...base, method: 'GET', path: `/restapi/v1.0${SELF}`, route: 'extension', extensionId: null, status: 401 },
  ])
  expect(harness.control.requests({ route: 'sms' })).toHaveLength(1)
  expect(harness.control.counters()).toMatchObject({
    smsAccepted: 1,
    requests: { sms: 1, token: 1 },
    answers: { '200': 3, '302': 1, '401': 1 },
  })
})

test('numbers can be added and removed', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  harness.control.removeNumber({ extensionId: harness.alice, phoneNumber: ALICE })
  expect((await harness.sms(access_token)).status).toBe(400)
  harness.control.addNumber({ extensionId: harness.alice, phoneNumber: ALICE })
  expect((await harness.sms(access_token)).status).toBe(200)
})

test('an app without the setting for refresh tokens gets none', async () => {
  await using harness = await startHarness()
  harness.control.configure({ issueRefreshTokens: false })
  expect(await harness.login()).not.toHaveProperty('refresh_token')
})

test('recorded bodies have at most 4,096 bytes, and end with a whole character', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const texts = ['', 'a', 'aa', 'aaa'].map((shift) => `${shift}${'€😀'.repeat(900)}`)
  for (const text of texts) await harness.sms(access_token, text)
  const calls = harness.control.calls().filter(({ route }) => route === 'sms')
  expect(calls).toHaveLength(texts.length)
  for (const [at, { request }] of calls.entries()) {
    expect(JSON.stringify(smsBody(texts[at] ?? '')).startsWith(request.body)).toBe(true)
    expect(request.body.isWellFormed()).toBe(true)
    const bytes = Buffer.byteLength(request.body)
    expect(bytes).toBeLessThanOrEqual(4096)
    expect(bytes).toBeGreaterThan(4092)
  }
})

test('the program prints its address and answers there, also to the JWT that it writes into a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-simulator-'))
  const file = join(folder, 'jwt.txt')
  const program = Bun.spawn(
    [
      'bun',
      'src/simulator/main.ts',
      '--port',
      '0',
      '--client-id',
      'app',
      '--client-secret',
      'secret',
      '--seed-extension',
      `Bob:${BOB}`,
      '--jwt-file',
      file,
    ],
    { stdout: 'pipe', stderr: 'inherit', env: { ...process.env, NODE_ENV: 'development' } },
  )
  const { value } = await program.stdout.getReader().read()
  const url = /http:\S+/.exec(new TextDecoder().decode(value))?.[0] ?? ''
  const query = new URLSearchParams({ response_type: 'code', client_id: 'app', redirect_uri: REDIRECT })
  const back = await fetch(`${url}/restapi/oauth/authorize?${query}`, { redirect: 'manual' })
  expect(back.status).toBe(302)
  const extensions = await answer(fetch(`${url}/control/extensions`))
  expect(JSON.parse(extensions.text)).toMatchObject([{ name: 'Bob', numbers: [{ phoneNumber: BOB }] }])
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: readFileSync(file, 'utf8').trim(),
  }
  const headers = { authorization: basic('app', 'secret') }
  const login = { method: 'POST', headers, body: new URLSearchParams(form) }
  expect((await fetch(`${url}/restapi/oauth/token`, login)).status).toBe(200)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  rmSync(folder, { recursive: true })
  program.kill('SIGTERM')
  expect(await program.exited).toBe(0)
})
