import { expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config.ts'

const KEY = crypto.getRandomValues(new Uint8Array(32)).toBase64()
const APP = { RC_CLIENT_ID: 'client-of-ours', RC_CLIENT_SECRET: 'client-key-of-ours' }
const HOME = { ...APP, NODE_ENV: 'production', DATABASE_URL: 'file:/home/pi/sgw.db' }
const PUBLIC = { ...HOME, PUBLIC_URL: 'https://sms.example.com', ENCRYPTION_KEYS: KEY }

/** `files`: the text of each file; an error code for one that cannot be read. */
const read = (values: Record<string, string>, files: Record<string, string | { code: string }> = {}) =>
  readConfig({
    values,
    readFile: (path) => {
      const text = files[path] ?? { code: 'ENOENT' }
      if (typeof text !== 'string') throw Object.assign(new Error(text.code), text)
      return text
    },
  })

const problemsOf = (...given: Parameters<typeof read>): string[] => {
  const result = read(...given)
  return result.ok ? [] : result.problems
}

const eventsWith = (values: Record<string, string>): string => {
  const result = read(values)
  return result.ok ? result.config.provider.events : result.problems.join('\n')
}

test('production starts with the two variables of a RingCentral app', () => {
  const result = read(HOME)
  expect(result).toMatchObject({
    ok: true,
    config: { publicUrl: 'http://localhost:3000', hasPublicUrl: false, encryptionKeys: null, warnings: [] },
  })
})

test('texts come by webhook where RingCentral or a simulator on this machine can post them, else by WebSocket', () => {
  expect(eventsWith(PUBLIC)).toBe('webhook')
  expect(eventsWith(HOME)).toBe('websocket')
  expect(eventsWith({ ...HOME, RC_SERVER_URL: 'http://127.0.0.1:4010' })).toBe('websocket')
  expect(eventsWith({})).toBe('webhook')
  expect(eventsWith(APP)).toBe('websocket')
  expect(eventsWith({ ...APP, PUBLIC_URL: 'http://localhost:3000' })).toBe('webhook')
  for (const RC_SERVER_URL of ['http://127.0.0.1:4010', 'http://localhost:4010/', 'http://[::1]:4010']) {
    expect(eventsWith({ ...APP, RC_SERVER_URL })).toBe('webhook')
    expect(eventsWith({ ...APP, RC_SERVER_URL, RC_JWT: 'a.b.c' })).toBe('websocket')
  }
  expect(eventsWith({ ...APP, RC_SERVER_URL: 'https://127.0.0.1.example.com' })).toBe('websocket')
})

test('RC_EVENTS decides, and another value is refused', () => {
  expect(eventsWith({ ...PUBLIC, RC_EVENTS: 'websocket' })).toBe('websocket')
  expect(eventsWith({ RC_EVENTS: 'websocket' })).toBe('websocket')
  expect(eventsWith({ ...APP, RC_EVENTS: 'webhook' })).toBe('webhook')
  for (const RC_EVENTS of ['socket', 'WebHook', 'webhook,websocket', '1'])
    expect(problemsOf({ ...PUBLIC, RC_EVENTS })).toEqual([
      `RC_EVENTS is "${RC_EVENTS}": use one of: webhook, websocket`,
    ])
})

test('RC_EVENTS=webhook needs a public address, and all that belongs to one, at once', () => {
  expect(problemsOf({ ...HOME, RC_EVENTS: 'webhook' })).toEqual([
    'PUBLIC_URL is not set: give the https:// address that the provider and browsers reach, for example https://sms.example.com, or remove RC_EVENTS=webhook',
    'ENCRYPTION_KEYS is not set: make one with: sgw secret (or bun run sgw secret)',
  ])
})

test('a public address or a backup needs ENCRYPTION_KEYS, and the message names the file that has the key so far', () => {
  const { ENCRYPTION_KEYS: _, ...withoutKeys } = PUBLIC
  const backup = { ...HOME, LITESTREAM_REPLICA_URL: 'file:///backups' }
  const file = '/home/pi/encryption.key'
  for (const values of [withoutKeys, backup]) {
    expect(problemsOf(values)).toEqual([
      'ENCRYPTION_KEYS is not set: make one with: sgw secret (or bun run sgw secret)',
    ])
    for (const found of [`${KEY}\n`, { code: 'EACCES' }])
      expect(problemsOf(values, { [file]: found })).toEqual([
        `ENCRYPTION_KEYS is not set: the key of this database is in its folder: set ENCRYPTION_KEYS_FILE=${file}, and keep a copy of that file on another machine`,
      ])
    const named = read({ ...values, ENCRYPTION_KEYS_FILE: file }, { [file]: `${KEY}\n` })
    expect(named).toMatchObject({ ok: true, config: { encryptionKeys: [Uint8Array.fromBase64(KEY)] } })
  }
})

test('PLAIN_HTTP_CIDRS takes private ranges alone, and only without a public address', () => {
  const inside = '10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, 169.254.0.0/16, fc00::/7, fe80::/10'
  expect(read({ ...HOME, PLAIN_HTTP_CIDRS: `${inside},172.17.0.0/16,192.168.1.7,fd00::5,10.1.2.3/8` })).toMatchObject({
    ok: true,
    config: { plainHttpCidrs: expect.arrayContaining(['172.17.0.0/16', '192.168.1.7/32', 'fd00::5/128']) },
  })
  expect(read(HOME)).toMatchObject({ config: { plainHttpCidrs: [] } })
  for (const wide of [
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/7',
    '172.16.0.0/11',
    '192.168.0.0/15',
    '100.64.0.0/9',
    '169.254.0.0/15',
    'fc00::/6',
    'fe80::/9',
    '0.0.0.0/32',
    '8.8.8.8/32',
    '172.32.0.0/16',
    '100.128.0.1/32',
    '127.0.0.0/8',
    '::1/128',
    '2001:db8::/32',
    '::ffff:10.0.0.0/104',
    '64:ff9b::/96',
    'fe80::1%eth0/128',
  ])
    for (const values of [HOME, {}])
      expect(problemsOf({ ...values, PLAIN_HTTP_CIDRS: `192.168.1.0/24,${wide}` })).toEqual([
        `PLAIN_HTTP_CIDRS holds "${wide}", which is not a private range: give ranges inside ${inside}`,
      ])
  for (const odd of ['10.0', '10.0.0.0/33', '010.0.0.0/8', '0x0a000000/8', 'localhost', '10.0.0.0/+8'])
    expect(problemsOf({ ...HOME, PLAIN_HTTP_CIDRS: odd })).toEqual([
      `PLAIN_HTTP_CIDRS holds "${odd}": give addresses or ranges such as 10.0.0.0/8`,
    ])
  for (const values of [PUBLIC, { PUBLIC_URL: 'http://localhost:3000' }])
    expect(problemsOf({ ...values, PLAIN_HTTP_CIDRS: '172.17.0.0/16' })).toEqual([
      'PLAIN_HTTP_CIDRS is set, and PUBLIC_URL too: a gateway with a public address accepts only https, so remove one of them',
    ])
})
