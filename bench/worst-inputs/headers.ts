import { HEAD_BYTES, filledWith, listed } from './input.ts'

export const LONG_KEY = { Authorization: `Bearer sgw_${filledWith('a', HEAD_BYTES)}` }

/** Names of headers that the gateway reads, each with a long value. */
export const HEADERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a long key': LONG_KEY,
  'another scheme': { Authorization: filledWith('Basic ', HEAD_BYTES) },
  'a bearer of blanks': { Authorization: `Bearer${filledWith(' ', HEAD_BYTES)}x` },
  'a long id': { 'X-Request-Id': filledWith('a', HEAD_BYTES) },
  'many types': { Accept: listed(() => 'text/html;q=0.1', HEAD_BYTES) },
  'many parameters': { Accept: `text/html${filledWith(';q', HEAD_BYTES)}` },
  'many encodings': { 'Accept-Encoding': listed(() => 'br;q=0', HEAD_BYTES) },
  'zeros of an encoding': { 'Accept-Encoding': `br;q=0.${filledWith('0', HEAD_BYTES)}1` },
  'many cookies': { Cookie: listed((n) => `c${n}=${n}`, HEAD_BYTES, '; '), 'Sec-Fetch-Mode': 'navigate' },
  'a long cookie': { Cookie: `sgw-connect=${filledWith('%41', HEAD_BYTES)}`, 'Sec-Fetch-Mode': 'navigate' },
  'many proxies': { 'X-Forwarded-For': listed((n) => `10.0.${n % 256}.1`, HEAD_BYTES) },
  'many proxies of IPv6': { 'X-Forwarded-For': listed((n) => `[2001:db8::${n.toString(16)}]:4711`, HEAD_BYTES) },
  'many protocols': { 'X-Forwarded-Proto': listed(() => 'https', HEAD_BYTES) },
  'a long origin': { Origin: `https://${filledWith('a.', HEAD_BYTES)}` },
  'a long idempotency key': { 'Idempotency-Key': filledWith('a', HEAD_BYTES) },
  'many tags': { 'If-None-Match': listed((n) => `"${n}"`, HEAD_BYTES) },
  'a long app': { 'Sgw-App': filledWith('a', HEAD_BYTES) },
  'a long token of the provider': { 'Verification-Token': filledWith('a', HEAD_BYTES) },
  'a long handshake': { 'Validation-Token': filledWith('a', HEAD_BYTES) },
  'many headers': Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`X-${n}`, filledWith('a', 150)])),
}
