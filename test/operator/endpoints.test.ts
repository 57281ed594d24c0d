import { describe, expect, test } from 'bun:test'
import { expectError } from '../support/expect-error.ts'
import { manualClock } from '../support/manual-clock.ts'
import { signIn } from '../support/operator.ts'
import { startReceiver, verifySignatures } from '../support/receiver.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

const quiet = { connect: false, work: false }

/** Calls the API with an operator's token. */
async function operator(world: World) {
  const { token } = await signIn(world)
  const call = (method: string, path: string, body?: unknown): Promise<Response> =>
    world.call(method, `/v1/operator/${path}`, { key: token, ...(body === undefined ? {} : { body }) })
  const json = async <T = Record<string, unknown>>(method: string, path: string, body?: unknown) => {
    const response = await call(method, path, body)
    return { status: response.status, body: (await response.json()) as T }
  }
  return { token, call, json }
}

describe('tenants', () => {
  test('are created, listed with their active apps and live extensions, and suspended', async () => {
    await using world = await createWorld({ work: false })
    const { json, call } = await operator(world)
    const created = await json<{ tenantId: string; name: string; status: string }>('POST', 'tenants', {
      name: '  Second  ',
    })
    expect(created).toEqual({
      status: 201,
      body: { tenantId: expect.stringMatching(/^tenant_[0-9a-f]{16}$/), name: 'Second', status: 'active' },
    })
    const { tenantId } = created.body
    const first = { tenantId: world.tenantId, name: 'First', status: 'active', apps: 1, extensions: 1 }
    const second = { tenantId, name: 'Second', status: 'active', apps: 0, extensions: 0 }
    const createdAt = expect.stringMatching(/^\d{4}-.*Z$/)
    expect((await json('GET', 'tenants')).body).toEqual({
      tenants: [
        { ...first, createdAt },
        { ...second, createdAt },
      ],
      total: 2,
      page: 1,
      limit: 20,
    })
    expect((await json('GET', 'tenants?limit=1&page=2')).body).toMatchObject({
      tenants: [second],
      total: 2,
      page: 2,
      limit: 1,
    })
    expect(await json('PUT', `tenants/${tenantId}`, { status: 'suspended' })).toEqual({
      status: 200,
      body: { tenantId, name: 'Second', status: 'suspended' },
    })
    await expectError(
      await call('PUT', 'tenants/tenant_0000000000000000', { status: 'active' }),
      404,
      'Tenant not found',
    )
    await expectError(await call('PUT', 'tenants/x', { status: 'active' }), 400, 'Invalid tenantId format')
    for (const status of ['gone', null, 1, undefined])
      await expectError(await call('PUT', `tenants/${tenantId}`, { status }), 400, 'Invalid status')
    for (const name of ['', ' ', 'x'.repeat(101), null, 5])
      await expectError(await call('POST', 'tenants', { name }), 400, 'name must be 1-100 characters')
  })
})

describe('apps', () => {
  test('are created, listed, given new keys, deactivated and activated', async () => {
    await using world = await createWorld(quiet)
    const other = await world.otherTenant()
    const { json, call } = await operator(world)
    const created = await json<{ appId: string; apiKey: string }>('POST', 'apps', {
      tenantId: other.tenantId,
      name: 'Made',
    })
    expect(created).toMatchObject({
      status: 201,
      body: { name: 'Made', tenantId: other.tenantId, role: 'app', webhookSecret: expect.stringMatching(/^whsec_/) },
    })
    const { appId, apiKey } = created.body
    const idsOf = async (query: string): Promise<string[]> =>
      (await json<{ apps: { appId: string }[] }>('GET', `apps${query}`)).body.apps.map((app) => app.appId)
    expect(await idsOf('')).toEqual([world.app.appId, other.appId, appId])
    expect(await idsOf(`?tenantId=${other.tenantId}`)).toEqual([other.appId, appId])
    const rotated = await json<{ apiKey: string; apiKeyPrefix: string }>('POST', `apps/${appId}/rotate-key`)
    expect(rotated.body).toEqual({
      apiKey: expect.stringMatching(/^sgw_[\w-]{43}$/),
      apiKeyPrefix: rotated.body.apiKey.slice(0, 12),
    })
    const works = async (key: string): Promise<boolean> => (await world.call('GET', '/v1/me', { key })).ok
    expect([await works(apiKey), await works(rotated.body.apiKey)]).toEqual([false, true])
    await expectError(await call('POST', `apps/${appId}/activate`), 409, 'App is already active')
    expect((await json('POST', `apps/${appId}/deactivate`)).body).toEqual({ ok: true })
    expect(await works(rotated.body.apiKey)).toBe(false)
    for (const verb of ['rotate-key', 'rotate-webhook-secret'])
      await expectError(await call('POST', `apps/${appId}/${verb}`), 409, 'App is not active')
    const activated = await json<{ apiKey: string }>('POST', `apps/${appId}/activate`)
    expect(await works(activated.body.apiKey)).toBe(true)
  })

  test('get a new webhook secret, also while their tenant is suspended, that signs their next webhook', async () => {
    await using receiver = startReceiver()
    await using world = await createWorld(quiet)
    const { appId, tenantId, webhookSecret: old } = world.app
    const { json } = await operator(world)
    await world.call('PUT', `/v1/apps/${appId}`, { body: { webhookUrl: receiver.url } })
    await json('PUT', `tenants/${tenantId}`, { status: 'suspended' })
    const rotated = await json<{ webhookSecret: string }>('POST', `apps/${appId}/rotate-webhook-secret`)
    expect(rotated).toEqual({
      status: 200,
      body: { webhookSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) },
    })
    await json('PUT', `tenants/${tenantId}`, { status: 'active' })
    await world.call('POST', `/v1/apps/${appId}/test-webhook`)
    const [posted] = await receiver.received(1)
    if (posted === undefined) throw new Error('Nothing was posted')
    verifySignatures(posted, rotated.body.webhookSecret)
    expect(() => verifySignatures(posted, old)).toThrow()
  })

  test('refuse what does not exist', async () => {
    await using world = await createWorld(quiet)
    const { call } = await operator(world)
    const body = { tenantId: 'tenant_0000000000000000', name: 'App' }
    await expectError(await call('POST', 'apps', body), 400, 'Tenant not found or not active')
    await expectError(
      await call('POST', 'apps', { name: 'App' }),
      400,
      'tenantId is required when registering new apps',
    )
    await expectError(await call('GET', 'apps?tenantId=x'), 400, 'Invalid tenantId format')
    await expectError(await call('GET', 'apps?tenantId=tenant_0000000000000000'), 404, 'Tenant not found')
    for (const verb of ['rotate-key', 'rotate-webhook-secret', 'deactivate', 'activate']) {
      await expectError(await call('POST', `apps/app_0000000000000000/${verb}`), 404, 'App not found')
      await expectError(await call('POST', `apps/x/${verb}`), 400, 'Invalid appId format')
    }
  })
})

test('status and doctor are what the command line prints', async () => {
  await using world = await createWorld()
  const { json } = await operator(world)
  expect((await json('GET', 'status')).body).toMatchObject({
    running: true,
    version: expect.any(String),
    extensions: { active: 1, refresh_failed: 0, revoked: 0 },
    backup: { litestream: false },
  })
  const { body } = await json<object[]>('GET', 'doctor')
  expect(body).toContainEqual({ check: 'server', ok: true, level: 'ok', detail: 'running' })
})

test('alerts show what is firing, with its text, without ALERT_URL', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { json } = await operator(world)
  const alerts = async (): Promise<object[]> => (await json<{ alerts: object[] }>('GET', 'alerts')).body.alerts
  expect(await alerts()).toEqual([])
  // Not by the endpoint, which a session may ask 600 times a minute. A check that began before a change does not see it.
  const checked = (firing: number): Promise<unknown> =>
    until(() => {
      clock.advance(5000)
      return world.gateway.alerts.firing.length === firing
    })
  const before = clock.now()
  const beganAt = before + 1
  await world.gateway.database.gate.execute(`UPDATE extensions SET status = 'revoked', status_since = ${beganAt}`)
  world.gateway.directory.forget(world.tenantId)
  await checked(2)
  const [, alert] = await alerts()
  const { extensionId } = world.control.extensions()[0]!
  const what = `Extension ${extensionId} of ${world.tenantId} is revoked, so its messages fail. Its authorization has ended`
  const fix = `Authorize it again with an invite link: sgw extensions invite --tenant ${world.tenantId}.`
  expect(alert).toEqual({
    alert: 'extension_revoked',
    subject: extensionId,
    text: `${what}. ${fix}`,
    what,
    fix,
    since: new Date(beganAt).toISOString(),
    tenantId: world.tenantId,
    tenantName: await tenantName(world),
    detail: {
      tenantId: world.tenantId,
      extensionId,
      extensionNumber: '101',
      reason: 'Its authorization has ended',
      fix,
    },
  })
  // The alert may say that the database cannot be read.
  await world.gateway.database.gate.execute('ALTER TABLE tenants RENAME COLUMN name TO other')
  const nameless = expect.not.objectContaining({ tenantName: expect.anything() })
  expect(await alerts()).toEqual([nameless, nameless])
  await world.gateway.database.gate.execute('ALTER TABLE tenants RENAME COLUMN other TO name')
  await world.gateway.database.gate.execute("UPDATE extensions SET status = 'active'")
  await checked(0)
  expect(await alerts()).toEqual([])
})

async function tenantName({ gateway, tenantId }: World): Promise<unknown> {
  const sql = 'SELECT name FROM tenants WHERE id = ?1'
  return (await gateway.database.gate.execute({ sql, args: [tenantId] })).rows[0]?.['name']
}

describe('the simulator', () => {
  interface Call {
    at: string
    route: string
    direction: string
    fault: string | null
    rcMessageId?: string
    durationMs: number
    method: string
    path: string
    request: { headers: Record<string, string>; body: string }
    response: { status: number; headers: Record<string, string>; body: string } | null
  }

  test('shows its calls with a message, in both directions, and masks tokens', async () => {
    await using world = await createWorld()
    const { json } = await operator(world)
    const id = await world.send({ body: 'Is this shown? code=17&token=5' })
    const { rcMessageId } = await world.untilStatus(id)
    const answer = await json('POST', 'simulator/inbound', { from: TO, to: FROM, text: 'Yes' })
    expect(answer).toEqual({ status: 200, body: { rcMessageId: expect.any(String) } })
    const calls = async (query = ''): Promise<Call[]> =>
      (await json<{ calls: Call[] }>('GET', `simulator/calls${query}`)).body.calls
    const [sent] = await calls(`?from=${encodeURIComponent(FROM)}&to=${encodeURIComponent(TO)}`)
    expect(sent).toMatchObject({
      direction: 'out',
      route: 'sms',
      method: 'POST',
      path: expect.stringContaining('/sms'),
      request: {
        headers: { authorization: 'Bearer ***' },
        body: expect.stringContaining('Is this shown? code=17&token=5'),
      },
      response: { status: 200, body: expect.stringContaining(String(rcMessageId)) },
      fault: null,
      rcMessageId,
    })
    const [received] = await calls(`?from=${encodeURIComponent(TO)}`)
    expect(received).toMatchObject({
      direction: 'in',
      route: 'event',
      method: 'POST',
      path: '/v1/webhooks/provider',
      request: { headers: { 'Verification-Token': '***' }, body: expect.stringContaining('Yes') },
      response: { status: 200 },
      rcMessageId: answer.body['rcMessageId'],
    })
    const all = await calls()
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted())
    expect(all.find(({ route }) => route === 'token')?.request.body).toContain('code=***')
    expect(await calls('?limit=1')).toEqual(all.slice(-1))
    expect(await calls('?since=2100-01-01')).toEqual([])
    const text = all.flatMap(({ request, response }) => [request.body, response?.body ?? '']).join('\n')
    expect(text).toContain('"access_token":"***"')
    expect(text).not.toMatch(/"(access_token|refresh_token|verificationToken)" *: *"(?!\*\*\*)/)
    expect(text).not.toMatch(/(^|&)(code|code_verifier|refresh_token)=(?!\*\*\*)/m)
    expect(JSON.stringify(all)).not.toMatch(/(Bearer|Basic) (?!\*\*\*)/)
    const redirects = all.flatMap(({ response }) => response?.headers['Location'] ?? [])
    expect(redirects).toEqual([expect.stringContaining('?code=***&state=***&')])
  })

  test('refuses wrong input', async () => {
    await using world = await createWorld(quiet)
    const { call } = await operator(world)
    await expectError(await call('GET', 'simulator/calls?since=yesterday'), 400, 'Invalid since')
    for (const body of [{ fault: 'flood' }, {}, { fault: 3 }, []])
      await expectError(await call('PUT', 'simulator/next', body), 400, 'Invalid fault')
    const numbers = 'to and from must be valid E.164 phone numbers'
    await expectError(await call('POST', 'simulator/inbound', { from: 'x', to: FROM, text: 'Hi' }), 400, numbers)
    await expectError(
      await call('POST', 'simulator/inbound', { from: TO, to: FROM, text: '' }),
      400,
      'body must be 1-1600 characters',
    )
    await expectError(
      await call('POST', 'simulator/inbound', { from: TO, to: '+15555550999', text: 'Hi' }),
      404,
      'The simulator refuses: No extension owns +15555550999',
    )
  })

  test('plays a fault for one send alone', async () => {
    await using world = await createWorld({ env: { RECONCILE_SETTLE: '0s', RECONCILE_SETTLE_5XX: '0s' } })
    const { json } = await operator(world)
    const faultsOf = async (): Promise<(string | null)[]> => {
      const { body } = await json<{ calls: Call[] }>('GET', 'simulator/calls')
      return body.calls
        .filter(({ route }) => route === 'sms')
        .map(({ fault, response }) => fault ?? String(response?.status))
    }
    expect((await json('GET', 'simulator/next')).body).toEqual({ fault: null })
    for (const fault of ['opted-out', 'slow', null, '5xx-after']) {
      expect(await json('PUT', 'simulator/next', { fault })).toEqual({ status: 200, body: { fault } })
      expect((await json('GET', 'simulator/next')).body).toEqual({ fault })
    }
    expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
    expect((await json('GET', 'simulator/next')).body).toEqual({ fault: null })
    expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
    expect(await faultsOf()).toEqual(['5xx-after', '200'])
  })

  test('answers 429 with a pause of two seconds', async () => {
    await using world = await createWorld()
    const { json } = await operator(world)
    await json('PUT', 'simulator/next', { fault: '429' })
    const startedAt = performance.now()
    await world.untilStatus(await world.send())
    expect(performance.now() - startedAt).toBeGreaterThan(1900)
  })

  test('accepts a message and fails its record, as if the recipient had opted out', async () => {
    const clock = manualClock()
    await using world = await createWorld({ clock })
    const { json } = await operator(world)
    await json('PUT', 'simulator/next', { fault: 'opted-out' })
    const id = await world.send()
    await world.untilStatus(id, ['sent'])
    clock.advance(10_000)
    const timeline = await until(async () => {
      const { body } = await world.json('GET', `/v1/sms/${id}/timeline`)
      return body['deliveryStatus'] === 'undelivered' ? body : null
    })
    expect(timeline['entries']).toContainEqual(
      expect.objectContaining({ type: 'undelivered', errorCode: 'SMS-RC-413', reason: 'The recipient has opted out' }),
    )
  })
})
