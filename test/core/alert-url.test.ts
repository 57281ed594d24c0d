import { expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config.ts'

const HOME = { NODE_ENV: 'production', RC_CLIENT_ID: 'client', RC_CLIENT_SECRET: 'client-key-of-ours' }
const PUBLIC = {
  ...HOME,
  PUBLIC_URL: 'https://sms.example.com',
  ENCRYPTION_KEYS: 'bXRsaWUxd3FxQnFZVndDaGZGVmZkWXZFTzhXTnhmVW4=',
}
const NOT_USABLE =
  'ALERT_URL is not an address to which alerts can be posted: give an https:// address without user and password'
const AT_HOME = `${NOT_USABLE}; http:// is for an IP address in WEBHOOK_ALLOW_CIDRS, such as http://192.168.1.9:8123/alert with WEBHOOK_ALLOW_CIDRS=192.168.1.9 (127.0.0.1 in place of localhost)`

/** The problems of an environment with this address. */
function problemsOf(env: Record<string, string>, url: string, allowed?: string): string[] {
  const values = { ...env, ALERT_URL: url, ...(allowed === undefined ? {} : { WEBHOOK_ALLOW_CIDRS: allowed }) }
  const result = readConfig({ values, readFile: () => '' })
  return result.ok ? [] : [...result.problems]
}

test.each([
  ['http://192.168.1.9:8123/alert', '192.168.1.9'],
  ['http://192.168.1.9:8123/alert', '10.0.0.0/8,192.168.1.0/24'],
  ['http://127.0.0.1:8080/', '127.0.0.1'],
  ['http://[fd00::9]:8080/', 'fd00::/16'],
  ['https://192.168.1.9/alert', ''],
])('at home alerts go to %s with WEBHOOK_ALLOW_CIDRS=%s', (url, allowed) => {
  expect(problemsOf(HOME, url, allowed)).toEqual([])
})

test.each([
  ['http://192.168.1.9:8123/alert', undefined],
  ['http://192.168.1.10/alert', '192.168.1.9'],
  ['http://localhost:8123/', '127.0.0.1'],
  ['http://home.lan/', '192.168.1.0/24'],
  ['http://me:secret@192.168.1.9/', '192.168.1.9'],
  ['192.168.1.9:8123', '192.168.1.9'],
])('at home %s with WEBHOOK_ALLOW_CIDRS=%s is refused, with what would do', (url, allowed) => {
  expect(problemsOf(HOME, url, allowed)).toEqual([AT_HOME])
})

test('a range that is none is the only problem that it makes', () => {
  expect(problemsOf(HOME, 'https://hooks.example.com/', 'home')).toEqual([
    'WEBHOOK_ALLOW_CIDRS holds "home": give addresses or ranges such as 10.0.0.0/8',
  ])
})

test('with PUBLIC_URL alerts go to https:// alone, and nothing else is promised', () => {
  expect(problemsOf(PUBLIC, 'http://192.168.1.9:8123/alert', '192.168.1.9')).toEqual([NOT_USABLE])
})
