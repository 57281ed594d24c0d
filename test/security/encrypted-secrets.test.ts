import { expect, test } from 'bun:test'
import { type EncryptionContext, type Secrets, createSecrets } from '../../src/core/secrets.ts'

const KEYS = [1, 2, 3].map((n) => Buffer.alloc(32, `key number ${n}`))
const PURPOSES: readonly EncryptionContext['purpose'][] = [
  'rc_access',
  'rc_refresh',
  'rc_jwt',
  'webhook_secret',
  'trigger_secret',
  'verification',
  'pkce',
]

/** Every context to which a ciphertext could be moved: tenant × row × purpose. */
const CONTEXTS = ['tenant_1', 'tenant_2'].flatMap((tenantId) =>
  ['app_1', 'app_2', '7'].flatMap((row) => PURPOSES.map((purpose): EncryptionContext => ({ tenantId, row, purpose }))),
)

const canDecrypt = (secrets: Secrets, encrypted: string, context: EncryptionContext): Promise<boolean> =>
  secrets.decrypt(encrypted, context).then(
    () => true,
    () => false,
  )

test('a ciphertext can be decrypted only in its own context', async () => {
  const secrets = createSecrets(KEYS)
  let refused = 0
  for (const home of CONTEXTS) {
    const encrypted = await secrets.encrypt('whsec_text', home)
    expect(await secrets.decrypt(encrypted, home)).toBe('whsec_text')
    for (const other of CONTEXTS.filter((context) => context !== home)) {
      expect(await canDecrypt(secrets, encrypted, other)).toBe(false)
      refused++
    }
  }
  expect(refused).toBe(CONTEXTS.length * (CONTEXTS.length - 1))
})

test('a ciphertext with a changed character, also in its header, is not decrypted', async () => {
  const secrets = createSecrets(KEYS)
  const home = CONTEXTS[0]!
  const encrypted = await secrets.encrypt('whsec_text', home)
  for (let at = 0; at < encrypted.length; at++) {
    // The last letter of a base64url part may contain unused bits, so it is skipped.
    if (encrypted[at] === '.' || encrypted[at + 1] === '.' || at === encrypted.length - 1) continue
    const changed = encrypted.slice(0, at) + (encrypted[at] === 'A' ? 'B' : 'A') + encrypted.slice(at + 1)
    expect(await canDecrypt(secrets, changed, home)).toBe(false)
  }
})

test('a header that claims another context, key or algorithm is refused, because it is authenticated', async () => {
  const secrets = createSecrets(KEYS)
  const [home, other] = [CONTEXTS[0]!, CONTEXTS[7]!]
  const [header, ...rest] = (await secrets.encrypt('whsec_text', home)).split('.')
  const claims = JSON.parse(Buffer.from(header!, 'base64url').toString()) as Record<string, string>
  const forge = (change: object): string =>
    [Buffer.from(JSON.stringify({ ...claims, ...change })).toString('base64url'), ...rest].join('.')
  expect(await canDecrypt(secrets, forge({ tid: other.tenantId, row: other.row, use: other.purpose }), other)).toBe(
    false,
  )
  for (const change of [
    { zip: 'DEF' },
    { enc: 'A128CBC-HS256' },
    { alg: 'none' },
    { alg: 'PBES2-HS256+A128KW', p2c: 1_000_000_000 },
    { kid: createSecrets([KEYS[1]!]).keyId },
    { crit: ['x'] },
  ]) {
    expect(await canDecrypt(secrets, forge(change), home)).toBe(false)
  }
})

test('a key ring decrypts and verifies values of all its keys, and encrypts with the newest', async () => {
  const old = createSecrets([KEYS[2]!])
  const ring = createSecrets(KEYS)
  const home = CONTEXTS[0]!
  expect(await ring.decrypt(await old.encrypt('text', home), home)).toBe('text')
  expect(ring.hashes('sgw_x')).toContain(old.hash('sgw_x'))
  expect([ring.isCurrent(old.hash('sgw_x')), ring.isKnown(old.hash('sgw_x')), old.isKnown(ring.hash('sgw_x'))]).toEqual(
    [false, true, false],
  )
  expect([
    ring.isCurrent(ring.hash('sgw_x')),
    ring.isCurrent(await ring.encrypt('x', home)),
    ring.isCurrent(await old.encrypt('x', home)),
  ]).toEqual([true, true, false])
  expect(await canDecrypt(old, await ring.encrypt('text', home), home)).toBe(false)
})

test('a value of no key of the ring does not count as known', () => {
  const ring = createSecrets(KEYS)
  for (const text of ['', ':', 'abc', '0123456789abcdef', ring.keyId, `x${ring.keyId}:ab`, 'e30.a.b.c.d', '....', '\0'])
    expect([text, ring.isKnown(text), ring.isCurrent(text)]).toEqual([text, false, false])
})
