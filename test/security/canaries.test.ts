import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Provider } from '../../src/provider/provider.ts'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import { callbackPath, newLink, open as visit, pressConnect, tokenOf } from '../support/connect-flow.ts'
import { signIn } from '../support/operator.ts'
import { startReceiver } from '../support/receiver.ts'
import { listenTo } from '../support/socket.ts'
import { FROM, type World, createWorld, recordedLog, until } from '../support/world.ts'
import { filesOf, found } from './canaries.ts'

// A gateway is used with recognisable secrets and texts. Afterwards the test searches for them where they must not be.

const ENCRYPTION_KEY = Buffer.from('canary: the encryption key of 32').toString('base64')
const CLIENT_SECRET = 'sgw-simulator-secret'
const TEXTS = {
  out: 'canary-outgoing-text',
  in: 'canary-incoming-text',
  user: 'canary-user-id',
  url: 'canary-url-token',
  header: 'canary-forged-header',
  refused: 'canary-refused-text',
}
const NUMBERS = ['+15555550177', '+15555550178', FROM]

interface Traces {
  /** All credentials that were used. */
  secrets: Set<string>
  /** Every answer, except those that show a new secret once. */
  answers: string[]
  /** Every page. Answers may repeat texts and numbers to their owner, but pages may not. */
  pages: string[]
}

/** Collects every credential that the gateway creates or receives. */
function collectSecrets(world: World): Set<string> {
  const secrets = new Set<string>([world.app.apiKey, world.app.webhookSecret, ENCRYPTION_KEY, CLIENT_SECRET])
  const { ids, provider } = world.gateway
  const secret = ids.secret.bind(ids)
  ids.secret = () => collected(secrets, secret())
  const notePair = async (asked: ReturnType<Provider['refresh']>): ReturnType<Provider['refresh']> => {
    const result = await asked
    if (result.ok)
      for (const token of [result.value.accessToken, result.value.refreshToken]) if (token !== null) secrets.add(token)
    return result
  }
  const { exchangeCode, exchangeJwt, refresh } = provider
  provider.exchangeJwt = (jwt) => notePair(exchangeJwt.call(provider, jwt))
  provider.exchangeCode = (exchange) => notePair(exchangeCode.call(provider, exchange))
  provider.refresh = (...argument) => notePair(refresh.apply(provider, argument))
  return secrets
}

function collected(secrets: Set<string>, secret: string): string {
  secrets.add(secret)
  return secret
}

async function useEverything(world: World, traces: Traces): Promise<void> {
  const call = async (
    method: string,
    path: string,
    options: Parameters<World['call']>[2] = {},
  ): Promise<Record<string, string>> => {
    const response = await world.call(method, path, options)
    const text = await response.text()
    traces.answers.push(`${[...response.headers].join('\n')}\n${text}`)
    return text.startsWith('{') ? JSON.parse(text) : {}
  }
  /** Requests an answer that shows a secret once. */
  const shown = async (method: string, path: string, body?: unknown): Promise<Record<string, string>> => {
    const answer = (await world.json<Record<string, string>>(method, path, body === undefined ? {} : { body })).body
    for (const name of ['apiKey', 'webhookSecret', 'secret', 'token'])
      if (answer[name] !== undefined) traces.secrets.add(answer[name])
    return answer
  }
  world.control.setLimits({ enabled: false })
  await connections(world, traces)
  await connectByJwts(world, traces)
  await using receiver = startReceiver()
  receiver.answer = () => new Response('no', { status: 500 })
  await call('PUT', `/v1/apps/${world.app.appId}`, {
    body: { webhookUrl: `${receiver.url}/${TEXTS.url}?key=${TEXTS.url}` },
  })
  await shown('POST', `/v1/apps/${world.app.appId}/rotate-webhook-secret`)
  await shown('POST', '/v1/triggers', { callbackUrl: `http://127.0.0.1:9/${TEXTS.url}` })
  await shown('POST', '/v1/apps/register', { name: 'Second', tenantId: world.tenantId })
  const { token } = await shown('POST', '/v1/ws/token')
  await using socket = await listenTo(world.url, { token: token ?? '' })
  const ids = [
    await world.send({ to: NUMBERS[0]!, body: TEXTS.out, userId: TEXTS.user }),
    await world.send({ from: NUMBERS[1]!, to: NUMBERS[0]!, body: TEXTS.out }),
  ]
  world.control.fault({
    route: 'sms',
    calls: 1,
    fault: {
      kind: 'respond',
      status: 400,
      body: { errorCode: 'MSG-1', message: `Parameter [text] value [${TEXTS.refused}] is invalid` },
    },
  })
  ids.push(await world.send({ to: NUMBERS[0]!, body: TEXTS.refused }))
  for (const id of ids) await world.untilStatus(id)
  await world.control.injectSms({ to: FROM, from: NUMBERS[0]!, text: TEXTS.in })
  await until(() => receiver.requests.length > 0 && socket.ofType('sms_inbound').length > 0)
  for (const path of [
    '/v1/apps',
    '/v1/triggers',
    '/v1/sms/messages',
    '/v1/webhook-deliveries',
    '/v1/events',
    '/v1/rc/status',
    '/v1/rc/extensions',
    '/v1/nothing',
    '/health',
  ])
    await call('GET', path)
  await call('POST', `/v1/apps/${world.app.appId}/test-webhook`)
  await mistakes(world, call)
  await world.gateway.tokens.refresh(
    (await world.gateway.directory.tenant(world.tenantId)).extensions.values().next().value!,
  )
  traces.pages.push(
    await (await world.call('GET', '/openapi.json')).text(),
    await (await world.call('GET', '/docs')).text(),
  )
  const old = { ...(await shown('POST', `/v1/apps/${world.app.appId}/rotate-key`)) }
  await call('GET', '/v1/apps')
  await call('GET', '/v1/apps', { key: old['apiKey'] ?? '' })
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  await call('GET', '/v1/apps', { key: old['apiKey'] ?? '' })
}

/** Connects with JWTs: one that RingCentral repeats in its refusal, one whose session is lost, and one that stays. */
async function connectByJwts(world: World, traces: Traces): Promise<void> {
  const extensionId = world.control.extensions()[0]?.extensionId ?? ''
  const { token } = await signIn(world)
  traces.secrets.add(token)
  for (const isRefused of [true, false, false]) {
    const { jwt } = world.control.addJwt({ extensionId })
    for (const part of [jwt, ...jwt.split('.').slice(1)]) traces.secrets.add(part)
    const said = { error: 'invalid_grant', error_description: `${jwt} is signed by ${jwt.split('.')[2]}` }
    const fault = { kind: 'respond', status: 400, body: said } as const
    if (isRefused) world.control.fault({ route: 'token', calls: 1, fault })
    const body = { tenantId: world.tenantId, jwt }
    const answer = await world.json('POST', '/v1/operator/extensions', { key: token, body })
    traces.answers.push(JSON.stringify(answer))
    world.control.revokeTokens({ extensionId })
    await world.gateway.tokens.refresh({ tenantId: world.tenantId, extensionId })
  }
  for (const path of ['doctor', 'status', 'alerts'])
    traces.answers.push(await (await world.call('GET', `/v1/operator/${path}`, { key: token })).text())
}

/** Views, uses, reuses and declines links, and returns with an invalid code. */
async function connections(world: World, traces: Traces): Promise<void> {
  const page = async (answer: Promise<Response>): Promise<void> => {
    const response = await answer
    traces.pages.push(`${[...response.headers].join('\n')}\n${await response.text()}`)
  }
  const remember = (path: string): string => {
    for (const name of ['code', 'state'])
      collected(traces.secrets, new URLSearchParams(path.split('?')[1]).get(name) ?? CLIENT_SECRET)
    return path
  }
  const link = await newLink(world)
  await pressConnect(world, tokenOf(link))
  await page(pressConnect(world, tokenOf(link)))
  const path = remember(await callbackPath(world, await newLink(world, 'invite')))
  await page(visit(world, path))
  await page(visit(world, path))
  await page(visit(world, remember((await callbackPath(world)).replace(/code=[^&]+/, 'code=canary-stolen-code'))))
  world.control.denyNextLogin()
  await page(visit(world, remember(await callbackPath(world))))
}

/** Causes log lines and errors of every kind. */
async function mistakes(
  world: World,
  call: (method: string, path: string, options?: Parameters<World['call']>[2]) => Promise<unknown>,
): Promise<void> {
  await call('POST', '/v1/sms/send', { body: `{"body":"${TEXTS.refused}"` })
  await call('POST', '/v1/sms/send', { body: { to: NUMBERS[0], from: 'x', body: TEXTS.refused } })
  await call('GET', '/v1/apps', { key: `sgw_${TEXTS.header}` })
  await call('GET', '/v1/apps', {
    key: null,
    headers: { authorization: `Basic ${TEXTS.header}`, cookie: TEXTS.header },
  })
  await call('POST', '/v1/webhooks/provider', {
    key: null,
    body: { body: { subject: TEXTS.in } },
    headers: { 'verification-token': TEXTS.header },
  })
  await call('GET', `/v1/rc/callback?code=${TEXTS.header}&state=${TEXTS.header}&format=json`, { key: null })
  const { directory } = world.gateway
  const tenant = directory.tenant.bind(directory)
  directory.tenant = () =>
    Promise.reject(
      Object.assign(new Error(`cannot read ${TEXTS.out} ${NUMBERS[0]} ${world.key}`), { cause: world.key }),
    )
  await call('GET', '/v1/rc/status')
  directory.tenant = tenant
}

test('no secret is stored or shown in plain text, and logs contain no messages, numbers or addresses', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log, connect: false, env: { ENCRYPTION_KEYS: ENCRYPTION_KEY } })
  const traces: Traces = { secrets: collectSecrets(world), answers: [], pages: [] }
  await useEverything(world, traces)
  await world.gateway.database.writer.drained()
  const files = filesOf(world.folder)
  const [logged, answered, pages] = [lines.join(''), traces.answers.join('\n'), traces.pages.join('\n')]
  const secrets = [...traces.secrets].filter((secret) => secret !== '')
  expect(secrets.length).toBeGreaterThan(20)
  console.log(
    `${secrets.length} secrets, ${lines.length} log lines, ${traces.answers.length + traces.pages.length} answers, ${Object.keys(files).join(' ')}`,
  )

  expect(found(logged, secrets)).toEqual([])
  expect(found(answered, secrets)).toEqual([])
  expect(found(pages, secrets)).toEqual([])
  for (const [name, bytes] of Object.entries(files))
    expect({ name, found: found(bytes, secrets) }).toEqual({ name, found: [] })

  expect(found(logged, [...Object.values(TEXTS), ...NUMBERS.map((number) => number.slice(1))])).toEqual([])
  expect(found(pages, [TEXTS.out, TEXTS.in, TEXTS.header, TEXTS.url, NUMBERS[0]!])).toEqual([])
  // Texts, numbers and destinations must be in the database, for lists and deliveries. Finding them shows that the
  // search works.
  const stored = Object.values(files).join('')
  expect(found(stored, [TEXTS.out, TEXTS.in, TEXTS.user, TEXTS.url, NUMBERS[0]!]).length).toBe(5)
  expect(logged).toContain('the provider did not accept the message')
  expect(logged).toContain('request failed')
  expect(answered).toContain(TEXTS.in)
})

test('only the server’s user can read what the gateway writes', async () => {
  await using world = await createWorld({ connect: false })
  const readable = readdirSync(world.folder).filter((name) => (statSync(join(world.folder, name)).mode & 0o077) !== 0)
  expect(readdirSync(world.folder).length).toBeGreaterThan(2)
  expect(readable).toEqual([])
})
