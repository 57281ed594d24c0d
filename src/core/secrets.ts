import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The row and use that an encrypted value belongs to. The ciphertext is bound to all three: moved elsewhere, it cannot be decrypted. */
export interface EncryptionContext {
  tenantId: string
  row: string
  purpose: 'rc_access' | 'rc_refresh' | 'rc_jwt' | 'webhook_secret' | 'trigger_secret' | 'verification' | 'pkce'
}

export interface Secrets {
  /** Keyed hash of a random credential under the newest key: the key's id, `:`, HMAC-SHA-256 in hex. */
  hash(value: string): string
  /** The hashes under every key of the ring, newest first: a lookup must also find values hashed with an older key. */
  hashes(value: string): string[]
  /** JWE compact (`dir`, `A256GCM`, RFC 7516) under the newest key. */
  encrypt(plaintext: string, context: EncryptionContext): Promise<string>
  /** Decrypts a value that any key of the ring encrypted for exactly this context; throws otherwise. */
  decrypt(encrypted: string, context: EncryptionContext): Promise<string>
  /** True when `stored`, encrypted or hashed, was made with the newest key. */
  isCurrent(stored: string): boolean
  /** True when the key that made `stored`, encrypted or hashed, is in the ring. */
  isKnown(stored: string): boolean
  /** Id of the newest key: 8 hex characters, not secret. */
  keyId: string
}

interface Key {
  id: string
  hashKey: Uint8Array
  encryptionKey: Uint8Array
}

/** `keys`: 32 bytes each, newest first. */
export function createSecrets(keys: readonly Uint8Array[]): Secrets {
  const ring = keys.map(deriveKey)
  const newest = ring[0]
  if (newest === undefined) throw new Error('Cannot build secrets: there is no encryption key')
  const hashWith = (key: Key, value: string): string =>
    `${key.id}:${createHmac('sha256', key.hashKey).update(value).digest('hex')}`
  return {
    keyId: newest.id,
    hash: (value) => hashWith(newest, value),
    hashes: (value) => ring.map((key) => hashWith(key, value)),
    encrypt: (plaintext, context) => encrypt(newest, plaintext, context),
    decrypt: (encrypted, context) => decrypt(ring, encrypted, context),
    isCurrent: (stored) => keyIdOf(stored) === newest.id,
    isKnown: (stored) => ring.some((key) => key.id === keyIdOf(stored)),
  }
}

/** Constant-time comparison of two secrets of any length; an empty side never matches. */
export function sameSecret(a: string, b: string): boolean {
  if (a === '' || b === '') return false
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest()
  return timingSafeEqual(digest(a), digest(b))
}

export const sha256Hex = (value: string | Uint8Array): string => Bun.SHA256.hash(value, 'hex')

/** PKCE S256 (RFC 7636): base64url of the SHA-256 of the verifier. */
export const pkceChallenge = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

/** A webhook or trigger secret in the form of Standard Webhooks: `whsec_` + base64 of 32 bytes. */
export const webhookSecret = (bytes: Uint8Array): string => `whsec_${bytes.toBase64()}`

function deriveKey(key: Uint8Array): Key {
  const derive = (info: string): Uint8Array => new Uint8Array(hkdfSync('sha256', key, '', info, 32))
  return {
    id: createHash('sha256').update(derive('sgw key id')).digest('hex').slice(0, 8),
    hashKey: derive('sgw credential hash'),
    // This text derives the key: with a different text, no stored secret could be decrypted.
    encryptionKey: derive('sgw seal'),
  }
}

/** The library is loaded for the first secret, because most starts need none. */
async function encrypt(key: Key, plaintext: string, context: EncryptionContext): Promise<string> {
  const header = { alg: 'dir', enc: 'A256GCM', kid: key.id, ...bound(context) }
  const { CompactEncrypt } = await import('jose/jwe/compact/encrypt')
  return new CompactEncrypt(new TextEncoder().encode(plaintext)).setProtectedHeader(header).encrypt(key.encryptionKey)
}

async function decrypt(ring: readonly Key[], encrypted: string, context: EncryptionContext): Promise<string> {
  const header = headerOf(encrypted)
  const key = ring.find((candidate) => candidate.id === header['kid'])
  if (key === undefined) throw new Error('Cannot decrypt a secret: its encryption key is not in ENCRYPTION_KEYS')
  for (const [name, value] of Object.entries(bound(context))) {
    if (header[name] !== value) throw new Error('Cannot decrypt a secret: it belongs to another row')
  }
  const { compactDecrypt } = await import('jose/jwe/compact/decrypt')
  const { plaintext } = await compactDecrypt(encrypted, key.encryptionKey, {
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: ['A256GCM'],
  })
  return new TextDecoder().decode(plaintext)
}

const bound = (context: EncryptionContext): Record<string, string> => ({
  tid: context.tenantId,
  row: context.row,
  use: context.purpose,
})

/** A hash begins with its key's id, a JWE names it in its header. */
const keyIdOf = (stored: string): unknown => /^[0-9a-f]{8}(?=:)/.exec(stored)?.[0] ?? headerOf(stored)['kid']

function headerOf(encrypted: string): Record<string, unknown> {
  try {
    const text = new TextDecoder().decode(
      Uint8Array.fromBase64(encrypted.split('.')[0] ?? '', { alphabet: 'base64url' }),
    )
    const header: unknown = JSON.parse(text)
    return typeof header === 'object' && header !== null ? { ...header } : {}
  } catch {
    return {}
  }
}
