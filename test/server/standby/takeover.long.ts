import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { freePort } from '../../support/program.ts'
import { until } from '../../support/world.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// What operators and clients see of gateways with STANDBY=on. bench/takeover.ts counts what is lost. It needs Litestream 0.5.18.

interface Lease {
  role: string
  epoch: number | null
  holder: string | null
  url: string | null
  ageMs: number | null
}

/** Makes a tenant with an app, whose key every later holder must know. */
async function makeApp(machine: MachineOfGateway): Promise<void> {
  const { tenantId } = await machine.json<{ tenantId: string }>('tenant', 'create', '--name', 'Night')
  const app = await machine.json<{ apiKey: string }>('app', 'create', '--tenant', tenantId, '--name', 'App')
  machine.deployment.key = app.apiKey
}

/** How many apps of that name the file of a machine has. */
function appsIn({ database: path }: MachineOfGateway): number {
  using database = new Database(path, { readonly: true })
  return database.query<{ n: number }, []>(`SELECT count(*) AS n FROM apps WHERE name = 'App'`).get()?.n ?? 0
}

const knowsApp = async (machine: MachineOfGateway): Promise<boolean> => (await machine.call('/v1/me')).ok

if (HAS_LITESTREAM) {
  test('a standby says that it is one and answers nothing else, until it takes over from a gateway that was killed', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    const adminPort = String(freePort())
    await one.startUntil('ready')
    await makeApp(one)
    await two.startUntil('standby', { ADMIN_PORT: adminPort })

    expect(await (await two.call('/health')).text()).toBe('{"status":"ok"}')
    const admin = await fetch(`http://127.0.0.1:${adminPort}/ready`)
    expect([admin.status, await admin.text()]).toEqual([503, '{"status":"standby"}'])
    for (const path of ['/', '/v1/me', '/v1/sms/send', '/docs', '/console/', '/v1/webhooks/provider']) {
      const refused = await two.call(path, { method: path.endsWith('send') ? 'POST' : 'GET' })
      expect([path, refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([
        path,
        503,
        '1',
        '{"error":"Standby"}',
      ])
    }

    const held = await one.json<Lease>('lease')
    expect(held).toMatchObject({ role: 'active', epoch: 1, url: 'http://127.0.0.1:9' })
    expect(await two.json<Lease>('lease')).toMatchObject({ role: 'standby', epoch: 1, holder: held.holder })
    expect(await one.json('status')).toMatchObject({ ha: { role: 'active', epoch: 1, holder: held.holder } })
    const refused = await two.sgw('tenant', 'list')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Standby: another gateway is active')])
    const findings = await two.json<{ check: string; level: string }[]>('doctor')
    expect(findings.map(({ check, level }) => `${check} ${level}`)).toEqual([
      'configuration ok',
      'server ok',
      'disk ok',
      'provider ok',
      'lease ok',
      'same configuration ok',
      'copy ok',
    ])

    await one.kill()
    const offline = await one.sgw('tenant', 'create', '--name', 'Lost')
    expect([offline.code, offline.stderr]).toEqual([7, expect.stringContaining('STANDBY is on and no server answers')])
    await two.untilState('ready')
    expect([await knowsApp(two), gateways.lease.epoch]).toEqual([true, 2])
    expect((await fetch(`http://127.0.0.1:${adminPort}/ready`)).status).toBe(200)
    await one.startUntil('standby')
    expect(existsSync(`${one.database}.aside`)).toBe(false)
    expect(await two.stop()).toBe(0)
    await one.untilState('ready')
    expect([await knowsApp(one), existsSync(`${one.database}.aside`)]).toEqual([true, true])
  }, 120_000)

  test('a lease that is given is taken at once: sockets close with 1012, and the giver ends with 75', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await makeApp(one)
    await two.startUntil('standby')
    const socket = new WebSocket(`${one.url.replace('http', 'ws')}/ws`)
    const closed = new Promise<number>((resolve) => {
      socket.addEventListener('close', ({ code }) => resolve(code))
    })
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    await one.json('lease', 'give')
    expect([await closed, await one.ended()]).toEqual([1012, 75])
    await two.untilState('ready')
    expect([await knowsApp(two), gateways.lease.epoch]).toEqual([true, 2])
  }, 120_000)

  test('a gateway whose lease was taken ends at once with 75, says so, and copies nothing more', async () => {
    await using gateways = await Gateways.create()
    const one = gateways.machine('one')
    await one.startUntil('ready')
    const { bucket } = gateways.stub
    const taken = { ...gateways.lease, epoch: 7, holder: 'two:3000', nonce: 'of-another' }
    bucket.put('sgw/lease.json', new TextEncoder().encode(JSON.stringify(taken)))
    expect(await one.ended()).toBe(75)
    const keys = [...bucket.keys]
    expect(one.output()).toContain('has lost its lease: two:3000 has taken it with epoch 7')
    expect(gateways.lease).toMatchObject({ epoch: 7, nonce: 'of-another' })
    await one.startUntil('standby')
    expect(bucket.keys.filter((key) => key.includes('/e'))).toEqual(keys.filter((key) => key.includes('/e')))
  }, 120_000)

  test('gateways with other keys or another address, and a storage or an object that is no lease, end with 78 and change nothing', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
    expect(await two.enter({ ENCRYPTION_KEYS: key })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('ENCRYPTION_KEYS lacks the newest key'),
    })
    expect(await two.enter({ PUBLIC_URL: 'http://127.0.0.1:8' })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('PUBLIC_URL is http://127.0.0.1:8, but http://127.0.0.1:9'),
    })
    await one.stop()
    const { bucket } = gateways.stub
    bucket.put('sgw/lease.json', new TextEncoder().encode('{"epoch":'))
    expect(await two.enter()).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('is not the lease of a gateway'),
    })
    expect(new TextDecoder().decode(bucket.get('sgw/lease.json').body)).toBe('{"epoch":')
    bucket.delete('sgw/lease.json')
    await two.startUntil('ready')
    expect(gateways.lease.epoch).toBe(2)
  }, 120_000)

  test('a file and a copy that each have something of their own are both left, and each of them alone is taken', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready', { STANDBY: 'off', LITESTREAM_REPLICA_URL: 's3://backups/other' })
    await makeApp(one)
    await one.stop()
    await two.startUntil('ready')
    await two.stop()
    expect(await one.enter()).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('each have changes that the other lacks'),
    })
    expect(appsIn(one)).toBe(1)
    // A place without a copy: the file is taken.
    await one.startUntil('ready', { LITESTREAM_REPLICA_URL: 's3://backups/new' })
    expect(await knowsApp(one)).toBe(true)
  }, 120_000)

  test('a gateway that had no standby gets one: its copy counts as epoch 0, on another machine and beside its file', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready', { STANDBY: 'off' })
    await makeApp(one)
    await one.stop()
    await two.startUntil('ready')
    expect([await knowsApp(two), gateways.lease.epoch]).toEqual([true, 1])
    await two.json('tenant', 'create', '--name', 'Later')
    await two.stop()
    await one.startUntil('ready')
    // A start of development makes a tenant of its own if it comes first.
    const names = (await one.json<{ name: string }[]>('tenant', 'list')).map(({ name }) => name)
    expect(names.filter((name) => name !== 'Development')).toEqual(['Night', 'Later'])
  }, 120_000)

  test('sgw restore finds the newest copy and that of a moment among all holders', async () => {
    await using gateways = await Gateways.create()
    const [one, two, drill] = [gateways.machine('one'), gateways.machine('two'), gateways.machine('drill')]
    await one.startUntil('ready')
    const before = new Date().toISOString()
    // The storage keeps the times of copies in whole seconds.
    await until(() => Date.now() > Date.parse(before) + 1000)
    await makeApp(one)
    await one.stop()
    await two.startUntil('ready')
    await two.stop()
    expect(await drill.json('restore')).toMatchObject({ restored: true })
    expect(appsIn(drill)).toBe(1)
    const taken = await drill.sgw('restore', '--timestamp', before)
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('move it elsewhere first')])
    const other = gateways.machine('other')
    const wrong = await other.sgw('restore', '--timestamp', 'yesterday')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('give a date-time with offset')])
    const older = await other.sgw('restore', '--timestamp', '2020-01-01T00:00:00Z')
    expect([older.code, older.stderr]).toEqual([1, expect.stringContaining('has nothing from before')])
    expect(await other.json('restore', '--timestamp', before)).toMatchObject({
      detail: expect.stringContaining('stop all gateways and run: sgw restore --choose local'),
    })
    expect(appsIn(other)).toBe(0)
  }, 120_000)
} else {
  test('STANDBY=on is refused with an older Litestream, and the message says which one to install', async () => {
    await using gateways = await Gateways.create()
    expect(await gateways.machine('one').enter()).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('install 0.5.18 or later'),
    })
  })
}
