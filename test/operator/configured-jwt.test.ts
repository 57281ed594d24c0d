import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { sgwIn } from '../support/cli.ts'
import { Home, type Started, tenantOf } from '../support/jwt-home.ts'
import { openOperatorSocket, operate } from '../support/operator.ts'
import { isoTime } from '../../src/core/clock.ts'
import { until } from '../support/world.ts'

const NOT_ACCEPTED = 'The JWT is not one that RingCentral accepts from this app: it was deleted, has expired,'

test('RC_JWT connects the extension to the first tenant, which an empty gateway gets with an app, and no later start repeats it', async () => {
  await using home = await Home.open()
  const jwt = home.newJwt()
  for (let start = 0; start < 3; start++)
    await home.start(jwt, async (started) => {
      expect(await started.extensions()).toEqual([{ name: 'Default', status: 'active' }])
      expect(await started.rows('SELECT name FROM apps')).toEqual([{ name: 'Default' }])
      expect(await started.doctor()).toMatchObject({ level: 'ok', detail: 'nothing is refused' })
      expect(await started.alerts()).toEqual([])
    })
  expect(home.presented).toBe(1)
})

test('of several tenants the oldest active one gets the extension', async () => {
  await using home = await Home.open()
  await home.start(null, async ({ running }) => {
    for (const name of ['Left', 'First', 'Second']) {
      const { body } = await operate(running, 'POST', '/v1/operator/tenants', { name })
      if (name === 'Left')
        await operate(running, 'PUT', `/v1/operator/tenants/${String(body['tenantId'])}`, { status: 'inactive' })
      home.clock.advance(1000)
    }
  })
  await home.start(home.newJwt(), async (started) => {
    expect(await started.extensions()).toEqual([{ name: 'First', status: 'active' }])
  })
})

test('what an operator has disconnected stays so, also after the encryption keys were rotated, and the doctor says how to go on', async () => {
  await using home = await Home.open()
  const jwt = home.newJwt()
  const [first, second] = [0, 1].map(() => crypto.getRandomValues(new Uint8Array(32)).toBase64())
  const spent = async (started: Started) => {
    expect(await started.extensions()).toEqual([])
    expect(await started.doctor()).toMatchObject({
      level: 'warn',
      detail:
        'RC_JWT connects no extension. It was connected before, but no extension uses it now (it was disconnected, or reconnected in another way), so the gateway does not present it again when it starts. Remove RC_JWT, or connect it with sgw extensions connect-jwt --tenant TENANT --jwt-file FILE.',
    })
    expect(await started.alerts()).toEqual([])
  }
  await home.start(
    jwt,
    async (started) => {
      const [app] = await started.rows('SELECT id FROM apps')
      const headers = { 'sgw-app': String(app?.['id']) }
      await operate(started.running, 'DELETE', `/v1/rc/extensions/${home.extensionId}`, undefined, headers)
    },
    { ENCRYPTION_KEYS: String(first) },
  )
  await home.start(jwt, spent, { ENCRYPTION_KEYS: `${second},${first}` })
  // The first key is gone, also for the key of the app.
  const alone = { ENCRYPTION_KEYS: String(second), ALLOW_NEW_KEYS: 'on' }
  await home.start(jwt, spent, alone)
  expect(home.presented).toBe(1)
  await home.start(
    jwt,
    async (started) => {
      expect((await started.connect(jwt, await tenantOf(started))).status).toBe(200)
    },
    alone,
  )
})

test('a refused RC_JWT lets the start go on; doctor and alert say why until another one is connected', async () => {
  await using home = await Home.open()
  const dead = home.newJwt()
  home.simulator.control.removeJwt({ jwt: dead })
  for (let start = 0; start < 2; start++)
    await home.start(dead, async (started) => {
      const tenantId = await tenantOf(started)
      const doctor = await started.doctor()
      expect(doctor?.level).toBe('fail')
      expect(doctor?.detail).toStartWith(`RC_JWT connects no extension of ${tenantId} (400 OAU-213). ${NOT_ACCEPTED}`)
      const command = `sgw extensions connect-jwt --tenant ${tenantId} --jwt-file FILE`
      expect(doctor?.detail).toEndWith(`Then restart with RC_JWT, or run: ${command}`)
      const [alert, ...others] = await started.alerts()
      expect([others, alert === `jwt_refused: ${doctor?.detail}`]).toEqual([[], true])
      expect(await started.extensions()).toEqual([])
      if (start === 0) return
      expect((await started.connect(home.newJwt(), tenantId)).status).toBe(200)
      expect(await started.doctor()).toMatchObject({ level: 'ok' })
      expect(await started.alerts()).toEqual([])
    })
  await home.start(home.newJwt(), async (started) => {
    expect(await started.alerts()).toEqual([])
    expect(await started.extensions()).toEqual([{ name: 'Default', status: 'active' }])
  })
})

test('an app of another kind is named as the cause, and so is another account', async () => {
  await using home = await Home.open()
  home.simulator.control.configure({ grants: ['authorization_code'] })
  const jwt = home.newJwt()
  await home.start(jwt, async (started) => {
    expect((await started.doctor())?.detail).toContain(
      '(400 OAU-251). The RingCentral app may not use this grant: its authentication must be "JWT auth flow".',
    )
  })
  home.simulator.control.configure({ grants: ['jwt', 'refresh_token'] })
  await home.start(jwt, async (started) => {
    expect(await started.extensions()).toEqual([{ name: 'Default', status: 'active' }])
  })
  const elsewhere = home.simulator.control.addExtension({
    name: 'E',
    numbers: ['+15555550109'],
    accountId: '900900016',
  })
  const { jwt: other } = home.simulator.control.addJwt({ extensionId: elsewhere.extensionId })
  await home.start(other, async (started) => {
    const tenantId = await tenantOf(started)
    expect((await started.doctor())?.detail).toContain(
      `The tenant is connected to another RingCentral account, or to the simulator of an earlier start. If it no longer needs that: sgw extensions disconnect ${home.extensionId} --tenant ${tenantId}. Then restart. Otherwise remove RC_JWT, and connect it to another tenant (sgw tenant create --name NAME): sgw extensions connect-jwt --tenant TENANT --jwt-file FILE`,
    )
    expect(await started.alerts()).toHaveLength(1)
    // What the text says to do.
    const operator = openOperatorSocket(started.running)
    const words = ['extensions', 'disconnect', home.extensionId, '--tenant', tenantId, '--yes']
    expect(await sgwIn(home.folder, words)).toMatchObject({ code: 0 })
    await operator.stop()
  })
  await home.start(other, async (started) => {
    expect(await started.extensions()).toEqual([{ name: 'Default', status: 'active' }])
    expect((await started.doctor())?.level).toBe('ok')
  })
})

test('what is left of a simulator keeps the account of RC_JWT from no tenant', async () => {
  await using home = await Home.open()
  const { control } = home.simulator
  const gone = home.newJwt()
  await home.start(gone, async (started) => expect(await started.extensions()).toHaveLength(1))
  // RingCentral knows neither its tokens nor its JWT.
  control.removeJwt({ jwt: gone })
  control.revokeTokens({ extensionId: home.extensionId })
  const { extensionId } = control.addExtension({ name: 'Real', numbers: ['+15555550109'], accountId: '900900016' })
  const { jwt } = control.addJwt({ extensionId })
  await home.start(jwt, async (started) => {
    expect(started.gateway.configuredJwt.state.kind).toBe('connected')
    expect(await started.extensions()).toEqual(
      expect.arrayContaining([
        { name: 'Default', status: 'revoked' },
        { name: 'Default', status: 'active' },
      ]),
    )
  })
})

test('while RingCentral cannot be asked, RC_JWT waits and is presented again, without an alert of its own', async () => {
  await using home = await Home.open()
  const { control } = home.simulator
  control.fault({ route: 'token', calls: null, fault: { kind: 'respond', status: 503 } })
  await home.start(home.newJwt(), async (started) => {
    expect(started.gateway.configuredJwt.state.kind).toBe('waits')
    expect(await started.alerts()).toEqual([])
    expect((await started.doctor())?.level).toBe('warn')
    control.clearFaults()
    home.clock.advance(10_000)
    await until(() => started.gateway.configuredJwt.state.kind === 'connected')
    expect(await started.extensions()).toEqual([{ name: 'Default', status: 'active' }])
  })
})

test('a 429 is waited for as long as the answer says, and no attempt prolongs it; doctor and status say until when', async () => {
  await using home = await Home.open()
  const { control } = home.simulator
  for (const [retryAfter, waitMs] of [
    [90, 90_000],
    [null, 60_000],
    [1, 10_000],
  ] as const) {
    const headers = retryAfter === null ? {} : { 'Retry-After': String(retryAfter) }
    control.fault({ route: 'token', calls: null, fault: { kind: 'respond', status: 429, headers } })
    const presented = home.presented
    await home.start(home.newJwt(), async (started) => {
      const until429 = isoTime(home.clock.now() + waitMs)
      const again = `The gateway presents it again at ${until429}.`
      expect((await started.doctor())?.detail).toEndWith(again)
      const { body } = await operate(started.running, 'GET', '/v1/operator/status')
      expect(body['waitingJwt']).toEndWith(again)
      home.clock.advance(waitMs - 1)
      await started.doctor()
      expect(home.presented - presented).toBe(1)
      home.clock.advance(1)
      await until(() => home.presented - presented === 2)
    })
    control.clearFaults()
  }
})

test('a dead RC_JWT leaves its extension revoked, and another one revives it', async () => {
  await using home = await Home.open()
  const { control } = home.simulator
  const dead = home.newJwt()
  await home.start(dead, async (started) => {
    control.removeJwt({ jwt: dead })
    control.revokeTokens({ extensionId: home.extensionId })
    const key = { tenantId: await tenantOf(started), extensionId: home.extensionId }
    await started.gateway.tokens.refresh(key)
    expect(await started.extensions()).toEqual([{ name: 'Default', status: 'revoked' }])
  })
  await home.start(dead, async (started) => {
    expect(await started.extensions()).toEqual([{ name: 'Default', status: 'revoked' }])
    const alerts = await started.alerts()
    expect(alerts.map((text) => text.split(':')[0])).toEqual(['extension_revoked'])
  })
  await home.start(home.newJwt(), async (started) => {
    expect(await started.extensions()).toEqual([{ name: 'Default', status: 'active' }])
    expect(await started.alerts()).toEqual([])
  })
})

test('after a restore of a backup from before the JWT, the next start connects it', async () => {
  await using home = await Home.open()
  const jwt = home.newJwt()
  let copy: Uint8Array<ArrayBuffer> | null = null
  await home.start(null, async ({ running, gateway }) => {
    await operate(running, 'POST', '/v1/operator/tenants', { name: 'Mine' })
    const file = `${home.folder}/copy.db`
    await gateway.database.gate.execute({ sql: 'VACUUM INTO ?1', args: [file] })
    copy = new Uint8Array(await Bun.file(file).arrayBuffer())
  })
  await home.start(jwt, async (started) => expect(await started.extensions()).toHaveLength(1))
  for (const end of ['', '-wal', '-shm', '.mark']) rmSync(`${home.folder}/sgw.db${end}`, { force: true })
  await Bun.write(`${home.folder}/sgw.db`, copy ?? new Uint8Array())
  await home.start(jwt, async (started) => {
    expect(await started.extensions()).toEqual([{ name: 'Mine', status: 'active' }])
    expect(await started.doctor()).toMatchObject({ level: 'ok' })
  })
  expect(home.presented).toBe(2)
})
