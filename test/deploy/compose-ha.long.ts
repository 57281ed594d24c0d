import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/core/config.ts'
import { goProgram } from '../support/go-program.ts'
import { temporaryFolder } from '../support/process.ts'
import { LoggedProgram, PROJECT, freePort } from '../support/program.ts'
import { until } from '../support/world.ts'

// compose.ha.yaml as far as it can be tried without Docker. caddy.long.ts has its options for Caddy.

interface Service {
  environment: Record<string, string>
  entrypoint: string[]
  volumes: string[]
}

const read = (path: string): Record<string, Service> =>
  (Bun.YAML.parse(readFileSync(join(PROJECT, path), 'utf8')) as { services: Record<string, Service> }).services

const PAIR = read('compose.ha.yaml')
const SECRET = 'a secret of twenty'
/** Replaces `${NAME:?…}` as Compose does with a line of `.env`. */
const withEnv = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.replace(/\$\{\w+:\?[^}]*\}/, SECRET)]))

test('both gateways of compose.ha.yaml have the same settings, which are complete, and volumes of their own', () => {
  const { 'sgw-a': one, 'sgw-b': other } = PAIR
  expect([one?.volumes, other?.volumes]).toEqual([['data-a:/data'], ['data-b:/data']])
  expect({ ...one, volumes: null }).toEqual({ ...other, volumes: null })
  const env = {
    ...withEnv(one?.environment ?? {}),
    PUBLIC_URL: 'https://sms.example.com',
    ENCRYPTION_KEYS: crypto.getRandomValues(new Uint8Array(32)).toBase64(),
    RC_CLIENT_ID: crypto.randomUUID(),
    RC_CLIENT_SECRET: crypto.randomUUID(),
    LITESTREAM: '1',
  }
  expect(readConfig({ values: env, readFile: () => '' })).toMatchObject({ ok: true, warnings: [] })
})

test('its gateways are shut in as that of compose.yaml is', () => {
  const { environment: _environment, volumes: _volumes, ...one } = read('compose.yaml')['sgw'] ?? ({} as Service)
  expect(PAIR['sgw-a']).toMatchObject(one)
})

const VERSITYGW = goProgram('github.com/versity/versitygw/cmd/versitygw@v1.8.0')

// This needs versitygw, which Go builds once.
if (VERSITYGW !== null)
  test('its storage starts with the bucket, and of fifty writers who replace the same object at once, one succeeds', async () => {
    using folder = temporaryFolder()
    const port = freePort()
    const { entrypoint = [], environment = {} } = PAIR['storage'] ?? {}
    const command = entrypoint.map((word) =>
      word
        .replaceAll('/objects', folder.file('objects'))
        .replace(':7070', `127.0.0.1:${port}`)
        .replace('exec versitygw', `exec ${VERSITYGW}`),
    )
    await using _storage = new LoggedProgram({ command, env: withEnv(environment), log: folder.file('log') })
    const endpoint = `http://127.0.0.1:${port}`
    const credentials = { accessKeyId: environment['ROOT_ACCESS_KEY'] ?? '', secretAccessKey: SECRET }
    const client = new Bun.S3Client({ ...credentials, bucket: 'backups', endpoint, region: 'us-east-1' })
    await until(() => client.write('lease.json', 'first').catch(() => null), 10_000)
    const put = (headers: Record<string, string>): Promise<Response> =>
      fetch(client.presign('lease.json', { method: 'PUT' }), { method: 'PUT', headers, body: crypto.randomUUID() })
    expect((await put({ 'if-match': '"stale"' })).status).toBe(412)
    expect((await put({ 'if-none-match': '*' })).status).toBe(412)
    const { etag } = await client.stat('lease.json')
    const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await put({ 'if-match': etag })).status))
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 49 }, () => 412)])
  }, 30_000)
