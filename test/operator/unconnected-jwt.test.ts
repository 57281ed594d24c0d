import { expect, test } from 'bun:test'
import type { StatusReport } from '../../src/operator/status.ts'
import { sgwIn } from '../support/cli.ts'
import { Home, type Started, tenantOf } from '../support/jwt-home.ts'
import { openOperatorSocket, operate } from '../support/operator.ts'
import { recordedLog, until } from '../support/world.ts'

// Whatever RC_JWT meets at a start, status, doctor, list and alerts say the same, and what they say to do ends it in one step.

const MINUTE = 60_000

/** What is said of RC_JWT, and which alerts fire. */
async function said(started: Started) {
  const { running } = started
  const { body: status } = await operate<StatusReport>(running, 'GET', '/v1/operator/status')
  const { body: doctor } = await operate<{ check: string; level: string; detail: string }[]>(
    running,
    'GET',
    '/v1/operator/doctor',
  )
  const { body } = await operate<{ alerts: { alert: string; text: string }[] }>(running, 'GET', '/v1/operator/alerts')
  const of = (check: string) => doctor.find((one) => one.check === check)
  return {
    kind: status.unconnectedJwt?.kind ?? null,
    text: status.unconnectedJwt?.text ?? '',
    waits: status.waitingJwt !== null,
    doctor: of('authorization'),
    extensions: of('extensions')?.detail,
    alerts: body.alerts.map(({ alert }) => alert),
    texts: body.alerts.map(({ text }) => text),
  }
}

async function listOf({ running }: Started, home: Home): Promise<string> {
  const operator = openOperatorSocket(running)
  const { stdout } = await sgwIn(home.folder, ['extensions', 'list'])
  await operator.stop()
  return stdout.replaceAll(/\s+/g, ' ')
}

for (const [name, env, sentence] of [
  [
    'id',
    { RC_CLIENT_ID: 'wrong' },
    'RC_CLIENT_ID is not known to RingCentral: copy it from the developer console again. Then restart.',
  ],
  [
    'secret',
    { RC_CLIENT_SECRET: 'wrong-key' },
    'RC_CLIENT_SECRET is not the secret of this RingCentral app: copy it from the developer console again. Then restart.',
  ],
] as const)
  test(`a wrong client ${name} is corrected by a restart, and nothing promises that it mends itself`, async () => {
    await using home = await Home.open()
    const jwt = home.newJwt()
    await home.start(
      jwt,
      async (started) => {
        home.clock.advance(30 * MINUTE)
        const all = await said(started)
        expect(all).toMatchObject({ kind: 'client', waits: false, alerts: ['provider_credentials'] })
        for (const text of [all.text, all.doctor?.detail, ...all.texts]) {
          expect(text).toEndWith(sentence)
          expect(text).not.toContain('tries again')
        }
        expect(all.extensions).toBe('none connected yet: RC_JWT has connected none; the check "authorization" says why')
        expect(await listOf(started, home)).toEndWith(`${sentence} none `)
        expect(home.presented).toBe(1)
      },
      env,
    )
    await home.start(jwt, async (started) => {
      expect(await started.extensions()).toEqual([{ name: 'Default', status: 'active' }])
      expect(await said(started)).toMatchObject({ kind: null, text: '', doctor: { level: 'ok' }, alerts: [] })
    })
  })

test('a client that is refused once its extension is connected is corrected by a restart as well, which tries at once', async () => {
  await using home = await Home.open()
  const jwt = home.newJwt()
  await home.start(jwt, async (started) => expect(await started.extensions()).toHaveLength(1))
  await home.start(
    jwt,
    async (started) => {
      const key = { tenantId: await tenantOf(started), extensionId: home.extensionId }
      for (let failures = 0; failures < 4; failures++) await started.gateway.tokens.refresh(key)
      const { extensions } = await said(started)
      expect(extensions).toContain('copy it from the developer console again. Then restart.')
      expect(extensions).not.toContain('tries again')
    },
    { RC_CLIENT_SECRET: 'wrong-key' },
  )
  await home.start(jwt, async (started) => {
    await until(async () => {
      home.clock.advance(0)
      return (await started.extensions())[0]?.['status'] === 'active'
    })
  })
})

test('a JWT that another tenant holds is not given to the first one, and the start says so; the command that it names does', async () => {
  await using home = await Home.open()
  const jwt = home.newJwt()
  const tenants: string[] = []
  await home.start(null, async (started) => {
    for (const name of ['First', 'Second']) {
      const { body } = await operate(started.running, 'POST', '/v1/operator/tenants', { name })
      tenants.push(String(body['tenantId']))
      home.clock.advance(1000)
    }
    expect((await started.connect(jwt, tenants[1])).status).toBe(200)
  })
  const [first, second] = tenants
  await home.start(jwt, async (started) => {
    const all = await said(started)
    const command = `sgw extensions connect-jwt --tenant ${first} --jwt-file FILE`
    const text = `RC_JWT connects no extension of ${first}. Extension ${home.extensionId} of ${second} already uses it, so the gateway does not connect it to ${first} when it starts. Remove RC_JWT, or connect it there, too: ${command}`
    expect(all).toMatchObject({ kind: 'spent', text, doctor: { level: 'warn', detail: text }, alerts: [] })
    const named = text
      .replaceAll(` of ${first}`, ` of ${first} (First)`)
      .replace(` of ${second}`, ` of ${second} (Second)`)
      .replace(`to ${first}`, `to ${first} (First)`)
    expect(await listOf(started, home)).toContain(named)
    expect((await started.connect(jwt, first)).status).toBe(200)
    expect(await said(started)).toMatchObject({ kind: null, doctor: { level: 'ok' } })
  })
  await home.start(jwt, async (started) => expect(await said(started)).toMatchObject({ kind: null }))
  await home.start(null, async (started) => expect(await started.extensions()).toHaveLength(2))
})

test('what was disconnected is connected by the command that is named, and then nothing is said of it any more', async () => {
  await using home = await Home.open()
  const jwt = home.newJwt()
  await home.start(jwt, async (started) => {
    const [app] = await started.rows('SELECT id FROM apps')
    const headers = { 'sgw-app': String(app?.['id']) }
    await operate(started.running, 'DELETE', `/v1/rc/extensions/${home.extensionId}`, undefined, headers)
  })
  await home.start(jwt, async (started) => {
    expect(await said(started)).toMatchObject({ kind: 'spent', doctor: { level: 'warn' } })
    expect(await listOf(started, home)).toEndWith('--jwt-file FILE. none ')
    expect((await started.connect(home.newJwt(), await tenantOf(started))).status).toBe(200)
    expect(await said(started)).toMatchObject({ kind: 'spent' })
    expect((await started.connect(jwt, await tenantOf(started))).status).toBe(200)
    expect(await said(started)).toMatchObject({ kind: null, doctor: { level: 'ok' }, alerts: [] })
  })
})

test('without a network nobody is told to try again, and an app of another kind leads to one of the right kind', async () => {
  await using home = await Home.open()
  await home.start(
    home.newJwt(),
    async (started) => {
      const all = await said(started)
      expect(all).toMatchObject({ kind: 'waits', waits: true, alerts: [] })
      expect(all.text).toContain(
        '(ECONNREFUSED). RingCentral could not be reached, or gave an unexpected answer: sgw doctor says what is wrong. The gateway presents it again at ',
      )
    },
    { RC_SERVER_URL: 'http://127.0.0.1:9' },
  )
  home.simulator.control.configure({ grants: ['authorization_code'] })
  await home.start(home.newJwt(), async (started) => {
    const all = await said(started)
    expect(all).toMatchObject({ kind: 'refused', alerts: ['jwt_refused'] })
    expect(all.text).toEndWith(
      'its authentication must be "JWT auth flow". Register such an app, set its RC_CLIENT_ID and RC_CLIENT_SECRET, and RC_JWT for it, and restart.',
    )
  })
})

test('a suspended tenant is named with the command that activates it', async () => {
  await using home = await Home.open()
  let tenantId = ''
  await home.start(null, async ({ running }) => {
    const { body } = await operate(running, 'POST', '/v1/operator/tenants', { name: 'Only' })
    tenantId = String(body['tenantId'])
    await operate(running, 'PUT', `/v1/operator/tenants/${tenantId}`, { status: 'suspended' })
    home.clock.advance(1000)
    const { body: left } = await operate(running, 'POST', '/v1/operator/tenants', { name: 'Left' })
    await operate(running, 'PUT', `/v1/operator/tenants/${String(left['tenantId'])}`, { status: 'inactive' })
  })
  await home.start(home.newJwt(), async (started) => {
    expect((await said(started)).text).toBe(
      `RC_JWT connects no extension of ${tenantId}. The tenant is not active: sgw tenant activate ${tenantId}. Then restart with RC_JWT, or run: sgw extensions connect-jwt --tenant ${tenantId} --jwt-file FILE`,
    )
    // People copy the command.
    const list = await listOf(started, home)
    expect(list).toContain(`of ${tenantId} (Only). The tenant is not active: sgw tenant activate ${tenantId}. Then`)
  })
})

test('where a file has the JWT, everything that is said names RC_JWT_FILE, and nothing RC_JWT', async () => {
  await using home = await Home.open()
  const env = { RC_JWT_FILE: 'jwt.txt' }
  const { log, lines } = recordedLog()
  home.log = log
  const jwt = home.newJwt()
  const other = (text: string): string => text.replaceAll('RC_JWT_FILE', '')
  const namesTheFile = (...texts: (string | undefined)[]): void => {
    for (const text of texts) {
      expect(text).toContain('RC_JWT_FILE')
      expect(other(text ?? '')).not.toContain('RC_JWT')
    }
  }
  home.simulator.control.removeJwt({ jwt })
  // Refused at once.
  await home.start(
    jwt,
    async (started) => {
      const all = await said(started)
      const restart = 'Then restart with RC_JWT_FILE, or run: sgw extensions connect-jwt --tenant '
      expect(all).toMatchObject({ kind: 'refused', alerts: ['jwt_refused'] })
      expect(all.text).toStartWith('RC_JWT_FILE connects no extension of ')
      expect(all.text).toContain(restart)
      namesTheFile(all.text, all.doctor?.detail, all.extensions, ...all.texts, await listOf(started, home))
      namesTheFile(lines.find((line) => line.includes('connects no extension')))
    },
    env,
  )
  // Connected, and refused later.
  const good = home.newJwt()
  await home.start(
    good,
    async (started) => {
      namesTheFile(lines.find((line) => line.includes('is connected')))
      const { control } = home.simulator
      control.removeJwt({ jwt: good })
      control.revokeTokens({ extensionId: home.extensionId })
      const key = { tenantId: await tenantOf(started), extensionId: home.extensionId }
      await started.gateway.tokens.refresh(key)
      const { extensions, texts } = await said(started)
      const fix = `sgw extensions connect-jwt --tenant ${key.tenantId} --jwt-file FILE, or write it into the file that RC_JWT_FILE names and restart.`
      expect(extensions).toEndWith(fix)
      expect(texts).toEqual([expect.stringContaining(fix), expect.stringContaining(fix)])
      namesTheFile(extensions, ...texts)
    },
    env,
  )
  // Spent.
  await home.start(null, async (started) => void (await started.rows('DELETE FROM extensions')))
  await home.start(
    good,
    async (started) => {
      const all = await said(started)
      expect(all).toMatchObject({ kind: 'spent' })
      namesTheFile(all.text, all.doctor?.detail)
    },
    env,
  )
})
