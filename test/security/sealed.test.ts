import { expect, test } from 'bun:test'
import { type SealContext, type Secrets, createSecrets } from '../../src/core/secrets.ts'

const KEYS = [1, 2, 3].map((n) => Buffer.alloc(32, `key number ${n}`))
const PURPOSES: readonly SealContext['purpose'][] = [
  'rc_access',
  'rc_refresh',
  'webhook_secret',
  'trigger_secret',
  'verification',
  'pkce',
]

/** Tenant × row × purpose: every place that a ciphertext could be moved to. */
const PLACES = ['tenant_1', 'tenant_2'].flatMap((tenantId) =>
  ['app_1', 'app_2', '7'].flatMap((row) => PURPOSES.map((purpose): SealContext => ({ tenantId, row, purpose }))),
)

const opens = (secrets: Secrets, sealed: string, place: SealContext): Promise<boolean> =>
  secrets.open(sealed, place).then(
    () => true,
    () => false,
  )

test('a ciphertext opens in its own place and in no other', async () => {
  const secrets = createSecrets(KEYS)
  let refused = 0
  for (const home of PLACES) {
    const sealed = await secrets.seal('whsec_text', home)
    expect(await secrets.open(sealed, home)).toBe('whsec_text')
    for (const other of PLACES.filter((place) => place !== home)) {
      expect(await opens(secrets, sealed, other)).toBe(false)
      refused++
    }
  }
  expect(refused).toBe(PLACES.length * (PLACES.length - 1))
})

test('a ciphertext or its header that was changed in any place opens nowhere', async () => {
  const secrets = createSecrets(KEYS)
  const home = PLACES[0]!
  const sealed = await secrets.seal('whsec_text', home)
  for (let at = 0; at < sealed.length; at++) {
    // The last letter of a base64url part may hold bits that mean nothing; every other one counts.
    if (sealed[at] === '.' || sealed[at + 1] === '.' || at === sealed.length - 1) continue
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
    expect(await opens(secrets, changed, home)).toBe(false)
  }
})

test('a header that claims another place, key or algorithm does not open: it is authenticated', async () => {
  const secrets = createSecrets(KEYS)
  const [home, other] = [PLACES[0]!, PLACES[7]!]
  const [header, ...rest] = (await secrets.seal('whsec_text', home)).split('.')
  const claims = JSON.parse(Buffer.from(header!, 'base64url').toString()) as Record<string, string>
  const forge = (change: object): string =>
    [Buffer.from(JSON.stringify({ ...claims, ...change })).toString('base64url'), ...rest].join('.')
  expect(await opens(secrets, forge({ tid: other.tenantId, row: other.row, use: other.purpose }), other)).toBe(false)
  for (const change of [
    { zip: 'DEF' },
    { enc: 'A128CBC-HS256' },
    { alg: 'none' },
    { alg: 'PBES2-HS256+A128KW', p2c: 1_000_000_000 },
    { kid: createSecrets([KEYS[1]!]).keyId },
    { crit: ['x'] },
  ]) {
    expect(await opens(secrets, forge(change), home)).toBe(false)
  }
})

test('a ring opens and finds what any of its keys made, and makes with the newest', async () => {
  const old = createSecrets([KEYS[2]!])
  const ring = createSecrets(KEYS)
  const home = PLACES[0]!
  expect(await ring.open(await old.seal('text', home), home)).toBe('text')
  expect(ring.hashes('sgw_x')).toContain(old.hash('sgw_x'))
  expect([ring.isCurrent(old.hash('sgw_x')), ring.isKnown(old.hash('sgw_x')), old.isKnown(ring.hash('sgw_x'))]).toEqual(
    [false, true, false],
  )
  expect([
    ring.isCurrent(ring.hash('sgw_x')),
    ring.isCurrent(await ring.seal('x', home)),
    ring.isCurrent(await old.seal('x', home)),
  ]).toEqual([true, true, false])
  expect(await opens(old, await ring.seal('text', home), home)).toBe(false)
})

test('nothing that was never made by a ring counts as known', () => {
  const ring = createSecrets(KEYS)
  for (const text of ['', ':', 'abc', '0123456789abcdef', ring.keyId, `x${ring.keyId}:ab`, 'e30.a.b.c.d', '....', '\0'])
    expect([text, ring.isKnown(text), ring.isCurrent(text)]).toEqual([text, false, false])
})
