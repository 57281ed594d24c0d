import { expect, test } from 'bun:test'
import { backFill } from '../../../src/messages/inbound/back-fill.ts'
import type { Finding } from '../../../src/operator/doctor/finding.ts'
import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import { callbackPath, newLink, open, pressConnect, tokenOf } from '../../support/connect-flow.ts'
import { type World, createWorld, recordedLog } from '../../support/world.ts'

// Refusals of RingCentral at a first connection. Page, log and doctor each name the fix.

interface Refusal {
  what: string
  env?: Record<string, string>
  arrange(world: World): void
  /** The status of the callback's page. */
  status: number
  page: string
  log: { level: 'warn'; step: string; status: number; code: string }
  doctor: { check: string; level: Finding['level']; detail: string }
}

const ALL = ['ReadMessages', 'ReadAccounts', 'SubscriptionWebhook', 'SMS'] as const
const without =
  (...missing: string[]) =>
  (world: World): void =>
    void world.control.configure({ permissions: ALL.filter((permission) => !missing.includes(permission)) })

const USER_MAY_NOT = 'In order to call this API endpoint, user needs to have [ReadUserPhoneNumbers] permission'

const REFUSALS: readonly Refusal[] = [
  {
    what: 'the app lacks ReadAccounts',
    arrange: without('ReadAccounts'),
    status: 502,
    page: 'The RingCentral app lacks the permission ReadAccounts: add it in the developer console, then connect again.',
    log: { level: 'warn', step: 'extension', status: 403, code: 'CMN-401' },
    doctor: { check: 'authorization', level: 'fail', detail: 'lacks the permission ReadAccounts' },
  },
  {
    what: 'the app lacks ReadMessages',
    arrange: without('ReadMessages', 'SMS'),
    status: 200,
    page: 'the RingCentral app needs the permission ReadMessages (SMS includes it)',
    log: { level: 'warn', step: 'subscription', status: 200, code: 'SUB-412' },
    doctor: {
      check: 'subscriptions',
      level: 'warn',
      detail: '^Extension \\d+ of .* does not receive events\\. .*needs the permission ReadMessages',
    },
  },
  {
    what: 'the app lacks SubscriptionWebhook',
    arrange: without('SubscriptionWebhook'),
    status: 200,
    page: 'The RingCentral app lacks the permission SubscriptionWebhook: add it in the developer console',
    log: { level: 'warn', step: 'subscription', status: 403, code: 'SUB-528' },
    doctor: {
      check: 'subscriptions',
      level: 'warn',
      detail: '^Extension \\d+ of .* does not receive events\\. .*lacks the permission SubscriptionWebhook',
    },
  },
  {
    what: 'the app issues no refresh tokens',
    arrange: (world) => void world.control.configure({ issueRefreshTokens: false }),
    status: 502,
    page: 'tick &quot;Issue refresh tokens&quot; in the settings of the RingCentral app',
    log: { level: 'warn', step: 'authorization', status: 200, code: 'ERR_NO_REFRESH_TOKEN' },
    doctor: { check: 'authorization', level: 'fail', detail: 'tick "Issue refresh tokens"' },
  },
  {
    what: 'the client secret is wrong',
    env: { RC_CLIENT_SECRET: 'not-the-right-one' },
    arrange: () => undefined,
    status: 502,
    page: 'RC_CLIENT_SECRET is not the secret of this RingCentral app',
    log: { level: 'warn', step: 'authorization', status: 401, code: 'OAU-146' },
    doctor: { check: 'provider credentials', level: 'fail', detail: 'RC_CLIENT_SECRET' },
  },
  {
    what: 'the user may not read phone numbers',
    arrange: (world) =>
      world.control.fault({
        route: 'phone-number',
        calls: null,
        fault: {
          kind: 'respond',
          status: 403,
          body: { errors: [{ errorCode: 'CMN-408', message: USER_MAY_NOT, permissionName: 'ReadUserPhoneNumbers' }] },
        },
      }),
    status: 200,
    page: 'The user lacks the permission ReadUserPhoneNumbers: give it to the user&#x27;s role in the RingCentral admin portal.',
    log: { level: 'warn', step: 'numbers', status: 403, code: 'CMN-408' },
    doctor: { check: 'authorization', level: 'fail', detail: 'lacks the permission ReadUserPhoneNumbers' },
  },
  {
    what: 'the phone numbers are refused without a reason',
    arrange: (world) =>
      world.control.fault({
        route: 'phone-number',
        calls: null,
        fault: { kind: 'respond', status: 403, body: { errorCode: 'CMN-999', message: 'Forbidden' } },
      }),
    status: 200,
    page: 'lacks the permission ReadAccounts: add it in the developer console, then connect again. (RingCentral answered 403.)',
    log: { level: 'warn', step: 'numbers', status: 403, code: 'CMN-999' },
    doctor: { check: 'authorization', level: 'fail', detail: 'lacks the permission ReadAccounts' },
  },
  {
    what: 'a firewall refuses the phone numbers',
    arrange: (world) =>
      world.control.fault({
        route: 'phone-number',
        calls: null,
        fault: { kind: 'respond', status: 403, body: '<html>' },
      }),
    status: 200,
    page: 'Something between this machine and RingCentral (a proxy, a firewall, a CDN) answered with status 403: let calls to RC_SERVER_URL pass.',
    log: { level: 'warn', step: 'numbers', status: 403, code: 'null' },
    doctor: { check: 'authorization', level: 'fail', detail: 'let calls to RC_SERVER_URL pass' },
  },
  {
    what: 'a proxy wants a login of its own',
    arrange: (world) =>
      world.control.fault({ route: 'extension', fault: { kind: 'respond', status: 401, body: '<html>' } }),
    status: 502,
    page: 'answered with status 401: let calls to RC_SERVER_URL pass. Then start again with a new link.',
    log: { level: 'warn', step: 'extension', status: 401, code: 'null' },
    doctor: { check: 'authorization', level: 'fail', detail: 'let calls to RC_SERVER_URL pass' },
  },
  {
    what: 'a firewall refuses the login',
    arrange: (world) =>
      world.control.fault({ route: 'token', fault: { kind: 'respond', status: 407, body: '<html>' } }),
    status: 502,
    page: 'answered with status 407: let calls to RC_SERVER_URL pass. Then start again with a new link.',
    log: { level: 'warn', step: 'authorization', status: 407, code: 'null' },
    doctor: { check: 'authorization', level: 'fail', detail: 'let calls to RC_SERVER_URL pass' },
  },
  {
    what: 'there were too many logins',
    arrange: (world) =>
      world.control.fault({
        route: 'token',
        fault: {
          kind: 'respond',
          status: 429,
          headers: { 'Retry-After': '30' },
          body: { errors: [{ errorCode: 'CMN-301', message: 'Request rate exceeded' }] },
        },
      }),
    status: 502,
    page: 'RingCentral asked the gateway to wait 30 s',
    log: { level: 'warn', step: 'authorization', status: 429, code: 'CMN-301' },
    doctor: { check: 'authorization', level: 'warn', detail: 'asked the gateway to wait 30 s' },
  },
]

interface Line extends Record<string, unknown> {
  msg: string
}

async function firstConnection(env: Record<string, string> = {}) {
  const { log, lines } = recordedLog()
  const world = await createWorld({ outside: true, connect: false, work: false, log, env })
  const linesOf = (step: string): Line[] =>
    lines.map((line) => JSON.parse(line) as Line).filter((line) => line['step'] === step)
  return { world, linesOf }
}

const findingOf = async (world: World, check: string): Promise<Finding | undefined> =>
  (await diagnose(world.gateway)).find((finding) => finding.check === check)

/** These worlds have no server that works, so the doctor knows of nothing that is refused, but not that nothing is. */
const NOTHING_REFUSED = { level: 'warn', detail: 'unknown: no server is running' }

test.each([...REFUSALS])(
  '$what: page, log and doctor name the fix',
  async ({ env, arrange, status, page, log, doctor }) => {
    const { world, linesOf } = await firstConnection(env)
    await using _ = world
    const path = await callbackPath(world)
    arrange(world)
    const answer = await open(world, path, { 'x-request-id': 'r-first' })
    expect(answer.status).toBe(status)
    expect(await answer.text()).toContain(page)
    const [line] = linesOf(log.step)
    expect({ ...line, code: String(line?.['code']) }).toMatchObject({
      ...log,
      requestId: 'r-first',
      tenantId: world.tenantId,
      providerRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      fix: expect.any(String),
    })
    const found = await findingOf(world, doctor.check)
    expect(found).toMatchObject({ level: doctor.level, detail: expect.stringMatching(new RegExp(doctor.detail)) })
  },
)

test('the doctor and its log line name a redirect address that is not registered', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ outside: true, connect: false, work: false, log })
  const address = `${world.gateway.config.publicUrl}/v1/rc/callback`
  expect(await findingOf(world, 'redirect address')).toMatchObject({ level: 'ok', detail: `${address} is accepted` })
  expect(world.control.sessions()).toEqual([])
  world.control.configure({ redirectUris: ['https://other.example.com/v1/rc/callback'] })
  const pressed = await pressConnect(world, tokenOf(await newLink(world)))
  expect((await fetch(pressed.headers.get('location') ?? '', { redirect: 'manual' })).status).toBe(400)
  expect(await findingOf(world, 'redirect address')).toMatchObject({
    level: 'fail',
    detail: expect.stringContaining(`The redirect URI ${address} is not registered`),
  })
  const line = lines.find((one) => one.includes('does not accept the redirect address')) ?? '{}'
  expect(JSON.parse(line)).toMatchObject({ status: 400, code: 'OAU-109', providerRequestId: expect.any(String) })
  world.control.configure({ redirectUris: [address] })
  expect(await findingOf(world, 'redirect address')).toMatchObject({ level: 'ok' })
})

test('the page names an address that changed during the login', async () => {
  const { world, linesOf } = await firstConnection()
  await using _ = world
  const path = await callbackPath(world)
  world.gateway.config.publicUrl = 'https://sms.example.com'
  const answer = await open(world, path)
  expect(answer.status).toBe(502)
  expect(await answer.text()).toContain('The redirect URI https://sms.example.com/v1/rc/callback is not registered')
  expect(linesOf('authorization')).toMatchObject([{ status: 400, code: 'OAU-109' }])
})

test('the doctor names a client id that the provider does not know', async () => {
  await using world = await createWorld({
    outside: true,
    connect: false,
    work: false,
    env: { RC_CLIENT_ID: 'another' },
  })
  expect(await findingOf(world, 'redirect address')).toMatchObject({
    level: 'fail',
    detail: expect.stringContaining('RC_CLIENT_ID is not known to RingCentral'),
  })
})

test('a back-fill that may not read messages is reported until it is fixed', async () => {
  const { world, linesOf } = await firstConnection()
  await using _ = world
  without('ReadMessages', 'SMS')(world)
  await open(world, await callbackPath(world))
  const [row] = (await world.gateway.directory.tenant(world.tenantId)).extensions.values()
  if (row === undefined) throw new Error('No extension is connected')
  expect(await backFill(world.gateway, row)).toBeNull()
  expect(linesOf('messages')).toMatchObject([{ status: 403, code: 'CMN-401', extensionId: row.extensionId }])
  expect(await findingOf(world, 'authorization')).toMatchObject({
    level: 'fail',
    detail: expect.stringContaining(
      'refused to list its inbound messages (403 CMN-401). The RingCentral app lacks the permission ReadMessages',
    ),
  })
  without()(world)
  expect((await open(world, await callbackPath(world))).status).toBe(200)
  expect(await findingOf(world, 'authorization')).toMatchObject(NOTHING_REFUSED)
  expect(await findingOf(world, 'subscriptions')).toMatchObject({ level: 'ok' })
})

test('refusals of a disconnected extension are no longer reported', async () => {
  const { world } = await firstConnection()
  await using _ = world
  const path = await callbackPath(world)
  without('SubscriptionWebhook')(world)
  await open(world, path)
  expect(await findingOf(world, 'subscriptions')).toMatchObject({ level: 'warn' })
  await world.call('POST', '/v1/rc/disconnect')
  expect(await findingOf(world, 'authorization')).toMatchObject(NOTHING_REFUSED)
  expect(await findingOf(world, 'subscriptions')).toMatchObject({ level: 'ok' })
})

test('a refused login is reported until a login succeeds; an expired code is not reported', async () => {
  const { world } = await firstConnection()
  await using _ = world
  const refused = await callbackPath(world)
  without('ReadAccounts')(world)
  await open(world, refused)
  without()(world)
  expect(await findingOf(world, 'authorization')).toMatchObject({ level: 'fail' })
  const late = (await callbackPath(world)).replace(/code=[^&]+/, 'code=ended')
  expect(await (await open(world, late)).text()).toContain('The login took longer than a minute or was used before')
  await open(world, await callbackPath(world))
  expect(await findingOf(world, 'authorization')).toMatchObject(NOTHING_REFUSED)
  await open(world, (await callbackPath(world)).replace(/code=[^&]+/, 'code=ended'))
  expect(await findingOf(world, 'authorization')).toMatchObject(NOTHING_REFUSED)
})
