import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { environmentOf, readBackupSettings } from '../../src/operator/backup/settings.ts'
import { type Config, type ConfigResult, readConfig } from '../../src/core/config.ts'
import { startProgram, temporaryFolder } from '../support/process.ts'
import { PROJECT } from '../support/program.ts'

type Values = Record<string, string>

/** Reads variables. `files`: the text of each file that a `NAME_FILE` may name. */
const read = (values: Values, files: Values = {}): ConfigResult =>
  readConfig({ values, readFile: (path) => files[path] ?? '' })

/** The lines that a start with these variables prints. */
function problemsOf(values: Values, files: Values = {}): string[] {
  const result = read(values, files)
  return result.ok ? [] : result.problems
}

function configOf(values: Values): Config {
  const result = read(values)
  if (!result.ok) throw new Error(result.problems.join('\n'))
  return result.config
}

const complaint = (name: string): string =>
  `${name} is in quotes: remove them (docker run --env-file makes them part of the value)`

/** All variables but those of Compose. */
const NAMES = [...readFileSync(join(PROJECT, '.env.example'), 'utf8').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)]
  .map(([, name = '']) => name)
  .filter((name) => !name.startsWith('SGW_'))
const SECRETS = ['ENCRYPTION_KEYS', 'RC_CLIENT_ID', 'RC_CLIENT_SECRET', 'RC_JWT', 'ALERT_URL']

test('each variable in quotes stops the start with one line, which does not show the value', () => {
  expect(NAMES.length).toBeGreaterThan(40)
  for (const name of NAMES)
    for (const value of [`"canary"`, `'canary'`, `"canary"\r`, ` "canary" `, `"canary","other"`, `""`])
      expect(problemsOf({ [name]: value })).toEqual([complaint(name)])
})

test('so does a path in quotes of a file that has a secret, and a secret in quotes in such a file', () => {
  for (const name of SECRETS) {
    const variable = `${name}_FILE`
    expect(problemsOf({ [variable]: '"/run/secrets/one"' })).toEqual([complaint(variable)])
    for (const text of [`"canary"`, `'canary'\r\n`])
      expect(problemsOf({ [variable]: '/run/secrets/one' }, { '/run/secrets/one': text })).toEqual([
        `${variable} names "/run/secrets/one", whose text is in quotes: remove them`,
      ])
  }
})

test('in production several such variables have one line each', () => {
  const values = {
    NODE_ENV: 'production',
    PUBLIC_URL: '"https://sms.example.com"',
    ENCRYPTION_KEYS: `"${crypto.getRandomValues(new Uint8Array(32)).toBase64()}"`,
    RC_CLIENT_ID: '"abc"',
    RC_CLIENT_SECRET: "'def'",
  }
  const { NODE_ENV: _production, ...quoted } = values
  expect(problemsOf(values).toSorted()).toEqual(Object.keys(quoted).map(complaint).toSorted())
})

test('quotes within a value, and spaces or a carriage return around it, do no harm', () => {
  const { provider, host, trustedProxies } = configOf({
    RC_CLIENT_ID: ' abc\r',
    RC_CLIENT_SECRET: `d"e'f\r\n`,
    HOST: '127.0.0.1 \r',
    TRUSTED_PROXIES: '127.0.0.1 , 10.0.0.0/8\r',
  })
  expect(provider).toMatchObject({ clientId: 'abc', clientSecret: `d"e'f` })
  expect({ host, trustedProxies }).toEqual({ host: '127.0.0.1', trustedProxies: ['127.0.0.1/32', '10.0.0.0/8'] })
})

test('Litestream gets neither quotes nor a carriage return', () => {
  const settingsOf = (values: Values) =>
    readBackupSettings(
      { values: { LITESTREAM_REPLICA_URL: 's3://bucket/sgw\r', ...values }, readFile: () => '' },
      '/data/sgw.db',
    )
  const settings = settingsOf({ LITESTREAM_ACCESS_KEY_ID: 'id\r', AWS_REGION: 'eu-central-1\r' })
  expect(settings.replicaUrl).toBe('s3://bucket/sgw')
  expect(environmentOf(settings)).toMatchObject({
    LITESTREAM_REPLICA_URL: 's3://bucket/sgw',
    LITESTREAM_ACCESS_KEY_ID: 'id',
    AWS_REGION: 'eu-central-1',
  })
  for (const name of ['LITESTREAM_ACCESS_KEY_ID', 'LITESTREAM_SECRET_ACCESS_KEY', 'AWS_SECRET_ACCESS_KEY'])
    expect(() => settingsOf({ [name]: '"canary"' })).toThrow(complaint(name))
})

test('a start with the variables of docker run --env-file ends with 78, and one with the same lines in .env does not mind', async () => {
  using folder = temporaryFolder()
  const given = { RC_CLIENT_ID: '"canary-id"', RC_CLIENT_SECRET: "'canary-secret'", DATABASE_URL: folder.database }
  await using docker = startProgram('src/main.ts', [], given, folder.path)
  const refused = await docker.ended()
  expect({ code: refused.code, stderr: refused.stderr }).toEqual({
    code: 78,
    stderr: `${complaint('RC_CLIENT_ID')}\n${complaint('RC_CLIENT_SECRET')}\n`,
  })
  expect(refused.stdout).not.toContain('canary')
  // The last line stops the start, so that the test sees that nothing else would have.
  const lines = Object.entries({ ...given, LOG_FORMAT: '"nonsense"' }).map(([name, value]) => `${name}=${value}\r\n`)
  writeFileSync(folder.file('.env'), lines.join(''))
  await using fromFile = startProgram('src/main.ts', [], { BUN_OPTIONS: '' }, folder.path)
  const { code, stderr } = await fromFile.ended()
  expect({ code, stderr }).toEqual({ code: 78, stderr: 'LOG_FORMAT is "nonsense": use one of: json, pretty\n' })
})
