import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Resolver, type SystemResolverOptions, systemResolver } from '../../../src/net/outbound/system-resolver.ts'
import { type DnsServer, startDnsServer } from './dns-server.ts'

const noSignal = new AbortController().signal

/** Returns the addresses, or the error's code. */
async function answerOf(resolver: Resolver, hostname: string, signal = noSignal): Promise<string> {
  try {
    return (await resolver(hostname, signal)).map(({ address, family }) => `${address}/${family}`).join(' ')
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'no code'
  }
}

/** Ignores the machine's hosts file and search domains unless they are given. */
const resolverOf = ({ address }: Pick<DnsServer, 'address'>, options: SystemResolverOptions = {}): Resolver =>
  systemResolver({ servers: [address], hostsPath: '/nonexistent', searchPath: '/nonexistent', ...options })

function temporaryFile(text: string): Disposable & { path: string; write(text: string): void } {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-names-'))
  const path = join(folder, 'file')
  const write = (newText: string): void => writeFileSync(path, newText)
  write(text)
  return { path, write, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

test('a name has all its IPv4 and IPv6 addresses', async () => {
  await using server = await startDnsServer({
    'both.example.com': { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8::1'] },
    'four.example.com': { A: ['192.0.2.3'] },
    'six.example.com': { AAAA: ['2001:db8::2'] },
  })
  const resolver = resolverOf(server)
  expect(await answerOf(resolver, 'both.example.com')).toBe('192.0.2.1/4 192.0.2.2/4 2001:db8::1/6')
  expect(await answerOf(resolver, 'four.example.com')).toBe('192.0.2.3/4')
  expect(await answerOf(resolver, 'six.example.com')).toBe('2001:db8::2/6')
})

test('a name without an address fails with the reason', async () => {
  await using server = await startDnsServer({
    'empty.example.com': {},
    'broken.example.com': { A: 'server failure', AAAA: 'server failure' },
    'half-broken.example.com': { A: 'not found', AAAA: 'server failure' },
    'closed.example.com': { A: 'refused', AAAA: 'refused' },
  })
  const resolver = resolverOf(server)
  expect(await answerOf(resolver, 'nowhere.example.com')).toBe('ENOTFOUND')
  expect(await answerOf(resolver, 'empty.example.com')).toBe('ENOTFOUND')
  expect(await answerOf(resolver, 'broken.example.com')).toBe('ESERVFAIL')
  expect(await answerOf(resolver, 'half-broken.example.com')).toBe('ESERVFAIL')
  expect(await answerOf(resolver, 'closed.example.com')).toBe('EREFUSED')
})

test('an unreachable DNS server has another error than a destination that refuses', async () => {
  const gone = await startDnsServer({})
  await gone[Symbol.asyncDispose]()
  expect(await answerOf(resolverOf(gone), 'hooks.example.com')).toBe('EAI_AGAIN')
})

test('an aborted lookup ends at once, with the addresses that are known', async () => {
  await using server = await startDnsServer({
    'silent.example.com': { A: 'silence', AAAA: 'silence' },
    'half-silent.example.com': { A: ['192.0.2.1'], AAAA: 'silence' },
    'good.example.com': { A: ['192.0.2.2'] },
  })
  const resolver = resolverOf(server)
  const givenUp = new AbortController()
  const both = ['silent', 'half-silent'].map((name) => answerOf(resolver, `${name}.example.com`, givenUp.signal))
  // This answer comes after those of earlier queries.
  expect(await answerOf(resolver, 'good.example.com')).toBe('192.0.2.2/4')
  givenUp.abort()
  expect(await Promise.all(both)).toEqual(['ETIMEOUT', '192.0.2.1/4'])
  expect(await answerOf(resolver, 'late.example.com', givenUp.signal)).toBe('ETIMEOUT')
  expect(server.asked).not.toContain('late.example.com A')
})

test('an aborted lookup does not abort another one', async () => {
  await using server = await startDnsServer({ 'slow.example.com': { A: 'silence', AAAA: 'silence' } }, 'silence')
  const resolver = resolverOf(server)
  const [first, second] = [new AbortController(), new AbortController()]
  const ended: string[] = []
  const lookups = [first, second].map(({ signal }, index) =>
    answerOf(resolver, 'slow.example.com', signal).then(() => ended.push(`lookup ${index}`)),
  )
  first.abort()
  await lookups[0]
  await new Promise((resolve) => setImmediate(resolve))
  expect(ended).toEqual(['lookup 0'])
  second.abort()
  await lookups[1]
})

test('the hosts file has priority, is read again after a change, and ignores case', async () => {
  await using server = await startDnsServer({ 'hooks.example.com': { A: ['192.0.2.1'] } })
  using hosts = temporaryFile('# 192.0.2.7 hooks.example.com\n192.0.2.8\tHooks.Example.com other # x\n::1 other\n')
  const resolver = resolverOf(server, { hostsPath: hosts.path })
  expect(await answerOf(resolver, 'hooks.example.com')).toBe('192.0.2.8/4')
  expect(await answerOf(resolver, 'other')).toBe('192.0.2.8/4 ::1/6')
  expect(server.asked).toEqual([])
  hosts.write('192.0.2.9 other\n')
  expect(await answerOf(resolver, 'OTHER')).toBe('192.0.2.9/4')
  expect(await answerOf(resolver, 'hooks.example.com')).toBe('192.0.2.1/4')
})

test('localhost and its subdomains are loopback, whatever the DNS servers answer', async () => {
  await using server = await startDnsServer({}, ['192.0.2.1'])
  const resolver = resolverOf(server)
  expect(await answerOf(resolver, 'localhost')).toBe('127.0.0.1/4 ::1/6')
  expect(await answerOf(resolver, 'hooks.localhost')).toBe('127.0.0.1/4 ::1/6')
  expect(server.asked).toEqual([])
  expect(await answerOf(systemResolver(), 'localhost')).toContain('127.0.0.1/4')
})

test('short names are completed with the search domains of resolv.conf', async () => {
  await using server = await startDnsServer({
    'receiver.apps.test': { A: ['192.0.2.1'] },
    'a.b.apps.test': { A: ['192.0.2.2'] },
    'a.b': { A: ['192.0.2.3'] },
  })
  using dots = temporaryFile('domain ignored.test\nsearch none.test apps.test.\noptions edns0 ndots:2\n')
  const resolver = resolverOf(server, { searchPath: dots.path })
  expect(await answerOf(resolver, 'receiver')).toBe('192.0.2.1/4')
  expect(server.asked.filter((query) => query.endsWith(' A'))).toEqual(['receiver.none.test A', 'receiver.apps.test A'])
  expect(await answerOf(resolver, 'a.b')).toBe('192.0.2.2/4')
  dots.write('search apps.test\n')
  expect(await answerOf(resolver, 'a.b')).toBe('192.0.2.3/4')
})
