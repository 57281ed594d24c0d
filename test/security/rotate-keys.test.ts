import { describe, expect, test } from 'bun:test'
import { createSecrets } from '../../src/core/secrets.ts'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { rotateAppKey } from '../../src/operator/apps.ts'
import { readKeyUsage } from '../../src/operator/doctor/key-usage.ts'
import { connectJwt } from '../../src/operator/connect-jwt.ts'
import { rotateKeys } from '../../src/operator/rotate-keys.ts'
import { decryptJwt } from '../../src/provider/stored-credentials.ts'
import { callbackPath, newLink, open, pressConnect, tokenOf } from '../support/connect-flow.ts'
import { startReceiver, verifySignatures } from '../support/receiver.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

const OLD = Buffer.alloc(32, 'old key').toString('base64')
const NEW = Buffer.alloc(32, 'new key').toString('base64')
const NEWEST = createSecrets([Buffer.from(NEW, 'base64')])

const newTrigger = async (world: World, callbackUrl: string): Promise<string> =>
  (await world.json<{ secret: string }>('POST', '/v1/triggers', { body: { callbackUrl } })).body.secret

const moreApps = (world: World, count: number) => Promise.all(Array.from({ length: count }, () => world.secondApp()))

/** Returns the number of encrypted values in the database, and of those with the newest key. */
async function countEncrypted(world: World): Promise<{ all: number; newest: number }> {
  const { rows } = await world.gateway.database.gate.execute(
    'SELECT webhook_secret AS value FROM apps UNION ALL SELECT secret FROM triggers UNION ALL SELECT access_token FROM extensions UNION ALL SELECT refresh_token FROM extensions UNION ALL SELECT code_verifier FROM oauth_states',
  )
  return { all: rows.length, newest: rows.filter((row) => NEWEST.isCurrent(String(row['value']))).length }
}

/** Restarts with both keys, the new one first. The first world used the old key. */
async function restartWithKeys(first: World, keys: string, work = true): Promise<World> {
  await first.gateway.database.writer.drained()
  await first.running.stop()
  return createWorld({ folder: first.folder, connect: false, work, env: { ENCRYPTION_KEYS: keys } })
}

const refusal = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'no error',
    (error: Error) => error.message,
  )

describe('sgw keys rotate', () => {
  test('encrypts every secret again, so that only the new key decrypts them', async () => {
    const first = await createWorld({ env: { ENCRYPTION_KEYS: OLD, MAX_APPS_PER_TENANT: '1000' } })
    await moreApps(first, 120)
    await newTrigger(first, 'http://127.0.0.1:9/')
    await using world = await restartWithKeys(first, `${NEW},${OLD}`)
    const before = await countEncrypted(world)
    expect(before.newest).toBeLessThan(before.all)
    const { resealed } = await rotateKeys(world.gateway, {})
    expect(resealed).toBe(before.all - before.newest)
    expect(await countEncrypted(world)).toEqual({ all: before.all, newest: before.all })
    expect(await rotateKeys(world.gateway, {})).toEqual({ resealed: 0 })
  })

  test('encrypts the JWT of an extension again, which then opens sessions with the new key alone', async () => {
    const first = await createWorld({ env: { ENCRYPTION_KEYS: OLD } })
    const extensionId = first.control.extensions()[0]?.extensionId ?? ''
    const { jwt } = first.control.addJwt({ extensionId })
    const key = { tenantId: first.tenantId, extensionId }
    await connectJwt(first.gateway, { tenantId: first.tenantId, jwt }, 'test')
    await using world = await restartWithKeys(first, `${NEW},${OLD}`)
    // That of the app, both tokens, and the JWT; a rotation also finds the login before.
    expect((await readKeyUsage(world.gateway)).encrypted).toBe(4)
    expect(await rotateKeys(world.gateway, {})).toEqual({ resealed: 5 })
    expect((await readKeyUsage(world.gateway)).encrypted).toBe(0)
    const row = await world.gateway.directory.extension(key.tenantId, extensionId)
    expect(row === null ? null : await decryptJwt(NEWEST, row)).toBe(jwt)
  })

  test('a JWT whose key is missing is reported, although its tokens can be read', async () => {
    const first = await createWorld({ env: { ENCRYPTION_KEYS: OLD } })
    const extensionId = first.control.extensions()[0]?.extensionId ?? ''
    const { jwt } = first.control.addJwt({ extensionId })
    await connectJwt(first.gateway, { tenantId: first.tenantId, jwt }, 'test')
    // Work would ask the provider, which is a new one that accepts neither the tokens nor the JWT: the extension would be revoked.
    await using world = await restartWithKeys(first, `${NEW},${OLD}`, false)
    const old = await world.gateway.directory.extension(first.tenantId, extensionId)
    await rotateKeys(world.gateway, {})
    expect((await world.call('GET', '/v1/apps', { key: first.key })).status).toBe(200)
    const sql = `UPDATE extensions SET jwt = ?1, status = 'active'`
    await world.gateway.database.gate.execute({ sql, args: [String(old?.jwt)] })
    await using last = await restartWithKeys(world, NEW, false)
    expect(last.gateway.lostKeys.lost?.owners).toContain(extensionId)
  })

  test('loses nothing under traffic: sends, signatures, changing secrets and token refreshes', async () => {
    await using receiver = startReceiver()
    await using world = await createWorld({
      env: { ENCRYPTION_KEYS: OLD, FROM_LIMIT_PER_MINUTE: '10000', EXTENSION_LIMIT_PER_MINUTE: '10000' },
    })
    world.control.setLimits({ enabled: false })
    await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
    await moreApps(world, 60)
    const triggerSecret = await newTrigger(world, `${receiver.url}/trigger`)
    // Replaces the key ring of a running server, as after a restart with the new key first.
    Object.assign(world.gateway.secrets, createSecrets([Buffer.from(NEW, 'base64'), Buffer.from(OLD, 'base64')]))
    let busy = true
    const sent: string[] = []
    let webhookSecret = world.app.webhookSecret
    const traffic = [
      async () => void sent.push(await world.send({ body: `message ${sent.length}` })),
      () => world.control.injectSms({ to: FROM, from: TO, text: 'in' }),
      async () =>
        void (webhookSecret = (
          await world.json<{ webhookSecret: string }>('POST', `/v1/apps/${world.app.appId}/rotate-webhook-secret`)
        ).body.webhookSecret),
      async () =>
        void (await Promise.all(
          (await world.gateway.directory.tenant(world.tenantId)).extensions
            .values()
            .map((row) => world.gateway.tokens.refresh(row)),
        )),
      () => callbackPath(world),
    ]
    const workers = traffic.map(async (work) => {
      while (busy) {
        await work()
        await Bun.sleep(1)
      }
    })
    for (let round = 0; round < 8; round++) await rotateKeys(world.gateway, {})
    busy = false
    await Promise.all(workers)
    const state = await countEncrypted(world)
    expect(state.newest).toBe(state.all)
    for (const id of sent) expect(await world.untilStatus(id)).toMatchObject({ status: 'sent' })
    expect(
      new Set(
        (await world.json<{ extensions: { status: string }[] }>('GET', '/v1/rc/extensions')).body.extensions.map(
          ({ status }) => status,
        ),
      ),
    ).toEqual(new Set(['active']))
    await world.control.injectSms({ to: FROM, from: TO, text: 'the last' })
    const last = await until(() =>
      receiver.requests.filter(({ body }) => body['body'] === 'the last').length === 2
        ? receiver.requests.slice(-2)
        : null,
    )
    for (const request of last)
      verifySignatures(request, request.path.endsWith('/trigger') ? triggerSecret : webhookSecret)
  })

  test('keeps the change of a secret that changes during the re-encryption', async () => {
    await using world = await createWorld({ connect: false, work: false, env: { ENCRYPTION_KEYS: OLD } })
    const ring = createSecrets([Buffer.from(NEW, 'base64'), Buffer.from(OLD, 'base64')])
    const change = () =>
      world.json<{ webhookSecret: string }>('POST', `/v1/apps/${world.app.appId}/rotate-webhook-secret`)
    let changed = ''
    const decryptAndChange: typeof ring.decrypt = async (encrypted, context) => {
      const text = await ring.decrypt(encrypted, context)
      changed = (await change()).body.webhookSecret
      return text
    }
    Object.assign(world.gateway.secrets, ring, { decrypt: decryptAndChange })
    expect(await rotateKeys(world.gateway, {})).toEqual({ resealed: 0 })
    const { rows } = await world.gateway.database.gate.execute('SELECT webhook_secret AS value FROM apps')
    const context = { tenantId: world.tenantId, row: world.app.appId, purpose: 'webhook_secret' } as const
    expect(await ring.decrypt(String(rows[0]?.['value']), context)).toBe(changed)
  })

  test('does not interfere with a refresh of the same tokens, in either order', async () => {
    await using world = await createWorld({ env: { ENCRYPTION_KEYS: OLD } })
    world.control.setLimits({ enabled: false })
    const { tokens, directory, provider } = world.gateway
    let newest = ''
    const refresh = provider.refresh.bind(provider)
    provider.refresh = async (token) => {
      const result = await refresh(token)
      if (result.ok) newest = result.value.accessToken
      return result
    }
    const [row] = (await directory.tenant(world.tenantId)).extensions.values()
    const key = { tenantId: world.tenantId, extensionId: row!.extensionId }
    for (let round = 0; round < 20; round++) {
      Object.assign(
        world.gateway.secrets,
        createSecrets([
          Buffer.alloc(32, `key ${round}`),
          Buffer.alloc(32, `key ${round - 1}`),
          Buffer.from(OLD, 'base64'),
        ]),
      )
      const work = [
        () => tokens.refresh(key),
        () => tokens.reencrypt(key),
        () => tokens.reencrypt(key),
        () => tokens.access(key),
      ]
      await Promise.all((round % 2 === 0 ? work : work.toReversed()).map((run) => run()))
      // The provider accepts an old refresh token for a while, so the access token shows that the new pair was kept.
      expect(await tokens.access(key)).toEqual({ type: 'token', accessToken: newest })
      const stored = await directory.extension(key.tenantId, key.extensionId)
      expect([stored?.status, world.gateway.secrets.isCurrent(stored?.refreshToken ?? '')]).toEqual(['active', true])
    }
    expect(world.control.sessions({}).length).toBe(1)
  })

  test('skips a secret that no key decrypts, and counts such secrets', async () => {
    await using world = await createWorld({ env: { ENCRYPTION_KEYS: OLD } })
    const [broken] = await moreApps(world, 1)
    const stranger = await createSecrets([Buffer.alloc(32, 'lost key')]).encrypt('whsec_x', {
      tenantId: world.tenantId,
      row: broken!.appId,
      purpose: 'webhook_secret',
    })
    await world.gateway.database.writer.write([
      { sql: 'UPDATE apps SET webhook_secret = ?2 WHERE id = ?1', args: [broken!.appId, stranger] },
    ])
    Object.assign(world.gateway.secrets, createSecrets([Buffer.from(NEW, 'base64'), Buffer.from(OLD, 'base64')]))
    expect(await refusal(rotateKeys(world.gateway, {}))).toMatch(
      /^\d+ secrets were encrypted with the newest key, but 1 cannot be decrypted/,
    )
    const state = await countEncrypted(world)
    expect(state.newest).toBe(state.all - 1)
  })

  test('is refused if the server runs with other keys than the command', async () => {
    await using world = await createWorld({ connect: false, work: false, env: { ENCRYPTION_KEYS: OLD } })
    expect(await refusal(rotateKeys(world.gateway, { newestKey: NEWEST.keyId }))).toContain(
      'restart it with the new ones first',
    )
    expect(await rotateKeys(world.gateway, { newestKey: world.gateway.secrets.keyId })).toEqual({ resealed: 0 })
  })
})

describe('hashes that cannot be encrypted again', () => {
  test('API keys move to the new key when they are used, and the doctor counts the others', async () => {
    const first = await createWorld({ env: { ENCRYPTION_KEYS: OLD } })
    const [used, unused] = [first.key, (await moreApps(first, 1))[0]!.apiKey]
    await using world = await restartWithKeys(first, `${NEW},${OLD}`)
    const before = await readKeyUsage(world.gateway)
    expect(before).toMatchObject({ encrypted: 4, apiKeys: 2, subscriptions: 1 })
    expect((await world.call('GET', '/v1/apps', { key: used })).status).toBe(200)
    expect(await readKeyUsage(world.gateway)).toMatchObject({ apiKeys: 1 })
    await rotateKeys(world.gateway, {})
    const finding = (await diagnose(world.gateway)).find(({ check }) => check === 'encryption keys')
    expect(finding).toMatchObject({
      ok: true,
      detail: expect.stringContaining('API keys: 1 (each moves to the newest key when it is used)'),
    })
    await using last = await restartWithKeys(world, NEW)
    const statuses = await Promise.all(
      [used, unused].map(async (key) => (await last.call('GET', '/v1/apps', { key })).status),
    )
    expect(statuses).toEqual([200, 401])
    const keysOf = async () => (await diagnose(last.gateway)).find(({ check }) => check === 'encryption keys')
    expect(await keysOf()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('so their API keys are refused'),
    })
    const { rows } = await last.gateway.database.gate.execute('SELECT id, key_hash FROM apps')
    const lost = rows.find((row) => !last.gateway.secrets.isKnown(String(row['key_hash'])))
    await rotateAppKey(last.gateway, { appId: String(lost?.['id']) })
    expect(await keysOf()).toMatchObject({ ok: true })
  })

  test('open links and logins work with a new key, and stop working without the old one', async () => {
    const first = await createWorld({ connect: false, env: { ENCRYPTION_KEYS: OLD } })
    const links = [await newLink(first), await newLink(first, 'invite')]
    const state = new URLSearchParams((await callbackPath(first)).split('?')[1]).get('state') ?? ''
    await using world = await restartWithKeys(first, `${NEW},${OLD}`)
    await rotateKeys(world.gateway, {})
    expect((await pressConnect(world, tokenOf(links[0]!))).status).toBe(303)
    // The simulator of the login has ended. The failure of the code, not of the state, shows that the verifier was
    // decrypted.
    expect((await open(world, `/v1/rc/callback?code=x&state=${state}`)).status).toBe(502)
    await using last = await restartWithKeys(world, NEW)
    expect((await open(last, links[1]!)).status).toBe(400)
  })

  test('a subscription whose token no key can verify any more is created again', async () => {
    await using world = await createWorld({ env: { ENCRYPTION_KEYS: OLD } })
    const tokenOfSubscription = async () =>
      (await world.gateway.database.gate.execute('SELECT token_hash FROM subscriptions')).rows.map((row) =>
        String(row['token_hash']),
      )
    const [before] = await tokenOfSubscription()
    const [row] = (await world.gateway.directory.tenant(world.tenantId)).extensions.values()
    expect(await world.gateway.subscriptions.ensure(row!)).toBe('kept')
    Object.assign(world.gateway.secrets, createSecrets([Buffer.from(NEW, 'base64'), Buffer.from(OLD, 'base64')]))
    expect(await world.gateway.subscriptions.ensure(row!)).toBe('kept')
    await rotateKeys(world.gateway, {})
    expect((await world.call('GET', '/v1/apps')).status).toBe(200)
    Object.assign(world.gateway.secrets, NEWEST)
    expect(await world.gateway.subscriptions.ensure(row!)).toBe('created')
    const [after] = await tokenOfSubscription()
    expect(NEWEST.isCurrent(after ?? '')).toBe(true)
    expect(after).not.toBe(before)
    await world.control.injectSms({ to: FROM, from: TO, text: 'still here' })
    await until(
      async () => (await world.json<{ total: number }>('GET', '/v1/sms/messages?direction=inbound')).body.total === 1,
    )
  })
})
