import { describe, expect, test } from 'bun:test'
import { AddressGuard } from '../../../src/net/outbound/address-guard.ts'
import { HOSTILE_URLS } from './hostile-urls.ts'

const noSignal = new AbortController().signal
const production = new AddressGuard({ production: true, allowCidrs: [] })
const development = new AddressGuard({ production: false, allowCidrs: [] })

function guardOf(addresses: string[], options: { production?: boolean; allowCidrs?: string[] } = {}): AddressGuard {
  const resolver = () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
  return new AddressGuard({ production: options.production ?? true, allowCidrs: options.allowCidrs ?? [], resolver })
}

const resolve = (guard: AddressGuard, hostname = 'hooks.example.com', port = 443) =>
  guard.resolve({ hostname, port, tenantId: 'ten_1' }, noSignal)

const resolves = async (guard: AddressGuard, port?: number): Promise<string> => {
  const result = await resolve(guard, 'hooks.example.com', port)
  return result.ok ? result.address : result.errorClass
}

describe('registration in production', () => {
  for (const [kind, urls] of Object.entries(HOSTILE_URLS)) {
    test(`refuses every spelling of ${kind}`, () => {
      expect(urls.filter((url) => production.accepts(url))).toEqual([])
    })
  }

  test('there are at least 160 hostile spellings', () => {
    expect(new Set(Object.values(HOSTILE_URLS).flat()).size).toBeGreaterThanOrEqual(160)
  })

  test('accepts valid public addresses', () => {
    const honest = [
      'https://hooks.example.com',
      'https://hooks.example.com/',
      'HTTPS://Hooks.Example.COM/a/b?c=d&e=f#g',
      'https://hooks.example.com:443/',
      'https://hooks.example.com:80/',
      'https://hooks.example.com:1024/',
      'https://hooks.example.com:65535/',
      'https://hooks.example.com./x',
      'https://my_app.example.com/',
      'https://bücher.example/',
      'https://xn--bcher-kva.example/',
      'https://hooks.example.com/@user/x@y?to=a@b',
      'https://8.8.8.8/',
      'https://134744072/',
      'https://[2606:4700:4700::1111]/',
      'https://[::ffff:8.8.8.8]/',
      'https://172.32.0.1/',
      'https://172.15.0.1/',
      'https://169.253.0.1/',
      'https://100.63.0.1/',
      'https://100.128.0.1/',
      'https://192.0.1.1/',
      'https://198.17.0.1/',
      'https://223.255.255.255/',
      'https://[2001:4860:4860::8888]/',
      'https://localhost.example.com/',
      'https://internal.example.com/',
      'https://my.locale/',
      'https://hooks.example.com/%0d%0a',
      'https://hooks.example.com/é?q=ü',
      `https://hooks.example.com/${'a'.repeat(1974)}`,
    ]
    expect(honest.filter((url) => !production.accepts(url))).toEqual([])
  })

  test('an allowed range permits only its literal addresses', () => {
    const guard = new AddressGuard({
      production: true,
      allowCidrs: ['10.1.0.0/16', 'fd00::/8', '::ffff:192.168.7.0/120', '64:ff9b::/96'],
    })
    const opened = [
      'https://10.1.2.3/',
      'https://[::ffff:10.1.2.3]/',
      'https://[fd12::1]/',
      'https://192.168.7.9/',
      'https://[64:ff9b::8.8.8.8]/',
    ]
    const closed = [
      'https://10.2.0.1/',
      'https://192.168.8.1/',
      'https://[fd00:ec2::254]/',
      'https://[64:ff9b::a9fe:a9fe]/',
      'https://[64:ff9b::10.2.0.1]/',
      'https://localhost/',
      'http://10.1.2.3/',
    ]
    expect(opened.filter((url) => !guard.accepts(url))).toEqual([])
    expect(closed.filter((url) => guard.accepts(url))).toEqual([])
  })

  test('without a public address http:// is accepted too, to literal addresses inside these ranges alone', () => {
    const options = { production: true, allowCidrs: ['192.168.1.0/24', '127.0.0.0/8', 'fd00::/8', '169.254.0.0/16'] }
    const guard = new AddressGuard({ ...options, plainHttp: true })
    const opened = [
      'http://192.168.1.9:8123/api/webhook/sgw',
      'http://192.168.1.9/',
      'http://127.0.0.1:5678/',
      'http://127.1:5678/',
      'http://[fd00::9]:8123/',
      'http://[::ffff:192.168.1.9]/',
      'https://192.168.1.9/',
      'https://app.example.com/',
    ]
    const closed = [
      'http://192.168.2.9:8123/',
      'http://10.1.2.3/',
      'http://203.0.113.7/',
      'http://8.8.8.8/',
      'http://[2606:4700::1]/',
      'http://[64:ff9b::c0a8:109]/',
      'http://169.254.169.254/',
      'http://192.168.1.9:22/',
      'http://user@192.168.1.9/',
      'http://localhost:8123/',
      'http://homeassistant.local:8123/',
      'http://app.example.com/',
      'http://192.168.1.9.nip.io/',
      'http://192.168.1.9.example.com/',
      'ftp://192.168.1.9/',
    ]
    expect(opened.filter((url) => !guard.accepts(url))).toEqual([])
    expect(closed.filter((url) => guard.accepts(url))).toEqual([])
    const reachable = new AddressGuard(options)
    expect(opened.filter((url) => url.startsWith('http:') && reachable.accepts(url))).toEqual([])
  })

  test('even the widest range does not permit metadata, link-local and unspecified addresses', () => {
    const guard = new AddressGuard({ production: true, allowCidrs: ['0.0.0.0/0', '::/0'] })
    const never = [
      ...(HOSTILE_URLS['metadata'] ?? []),
      ...(HOSTILE_URLS['unspecified'] ?? []),
      ...(HOSTILE_URLS['linkLocal'] ?? []),
    ]
    expect(never.filter((url) => guard.accepts(url))).toEqual([])
    expect(guard.accepts('https://127.0.0.1/')).toBe(true)
  })
})

describe('registration outside production', () => {
  test('accepts http, loopback, private ranges, single labels and any port', () => {
    const urls = [
      'http://hooks.example.com/',
      'http://localhost:3001/hook',
      'http://127.0.0.1:9/x',
      'http://[::1]:80/',
      'http://10.0.0.1/',
      'http://172.16.0.1/',
      'http://192.168.1.5:22/',
      'https://[fd12::1]/',
      'http://receiver:8080/',
      'http://host.docker.internal:4000/',
      'http://nas.local/',
      'http://[::ffff:127.0.0.1]:81/',
    ]
    expect(urls.filter((url) => !development.accepts(url))).toEqual([])
  })

  test('refuses addresses that are never permitted', () => {
    const {
      metadata = [],
      unspecified = [],
      linkLocal = [],
      special = [],
      schemes = [],
      userInfo = [],
      parsers = [],
    } = HOSTILE_URLS
    const inProductionOnly = [
      'http://hooks.example.com/',
      'HTTP://hooks.example.com/',
      'https://metadata.google.internal/',
      'https://instance-data.ec2.internal/',
    ]
    const urls = [
      ...metadata,
      ...unspecified,
      ...linkLocal,
      ...special,
      ...schemes,
      ...userInfo,
      ...parsers,
      'http://hooks.example.com:0/',
    ]
    expect(urls.filter((url) => development.accepts(url) && !inProductionOnly.includes(url))).toEqual([])
  })
})

describe('names at delivery', () => {
  test('returns the public addresses, IPv4 first', async () => {
    const guard = guardOf(['2606:4700::1111', '1.1.1.1'])
    expect(await resolve(guard)).toEqual({
      ok: true,
      address: '1.1.1.1',
      family: 4,
      others: [{ address: '2606:4700::1111', family: 6 }],
    })
  })

  test('a denied address at any position denies the name', async () => {
    for (const inside of [
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '::1',
      'fe80::1%eth0',
      '::ffff:10.0.0.1',
      'fd00:ec2::254',
      '0.0.0.0',
      '64:ff9b::7f00:1',
    ]) {
      expect(await resolves(guardOf(['1.1.1.1', inside]))).toBe('BlockedAddress')
      expect(await resolves(guardOf([inside, '1.1.1.1']))).toBe('BlockedAddress')
    }
  })

  test('does not reveal the refused address', async () => {
    const result = await resolve(guardOf(['10.20.30.40']))
    expect(result).toMatchObject({ ok: false, errorClass: 'BlockedAddress' })
    expect(JSON.stringify(result)).not.toMatch(/10\.20|example/)
  })

  test('names WEBHOOK_ALLOW_CIDRS exactly where it is the cure', async () => {
    const message = async (guard: AddressGuard, port?: number): Promise<unknown> => {
      const result = await resolve(guard, 'example.test', port)
      return result.ok ? 'ok' : result.errorMessage
    }
    const text = 'The destination is not an address that webhooks may be sent to'
    const cure = `${text}, unless WEBHOOK_ALLOW_CIDRS has it`
    for (const address of ['127.0.0.1', '10.0.0.1', '100.64.0.1', '::1', 'fd12::1', '::ffff:10.0.0.1', '192.0.2.1'])
      expect([address, await message(guardOf(['1.1.1.1', address]))]).toEqual([address, cure])
    for (const address of ['169.254.169.254', '0.0.0.0', 'fe80::1', '100.100.100.200', 'not an address'])
      expect([address, await message(guardOf([address, '10.0.0.1']))]).toEqual([address, text])
    const many = Array.from({ length: 65 }, (_, index) => `10.0.0.${index}`)
    expect(await message(guardOf(many))).toBe(text)
    const own = guardOf(['127.0.0.1'])
    own.addOwn('127.0.0.1', 3000)
    expect(await message(own, 3000)).toBe(text)
    expect(guardOf([]).refusal('https://10.0.0.1/')?.errorMessage).toBe(cure)
    for (const url of ['http://10.0.0.1/', 'https://169.254.169.254/', 'https://a.internal/', 'https://10.0.0.1:22/'])
      expect([url, guardOf([]).refusal(url)?.errorMessage]).toEqual([url, text])
  })

  test('outside production, loopback and private addresses are permitted, but not special ones', async () => {
    for (const address of ['127.0.0.1', '10.0.0.1', '::1', 'fd12::1'])
      expect(await resolves(guardOf([address], { production: false }))).toBe(address)
    for (const address of [
      '169.254.169.254',
      '0.0.0.0',
      '::',
      'fe80::1',
      '224.0.0.1',
      '100.100.100.200',
      'not an address',
      '0177.0.0.1',
    ]) {
      expect(await resolves(guardOf([address], { production: false }))).toBe('BlockedAddress')
    }
  })

  test('a name with more than 64 addresses is refused', async () => {
    const addresses = Array.from({ length: 65 }, (_, index) => `1.1.1.${index}`)
    expect(await resolves(guardOf(addresses.slice(1)))).toBe('1.1.1.1')
    expect(await resolves(guardOf(addresses))).toBe('BlockedAddress')
  })

  test('an allowed range permits addresses of names', async () => {
    expect(await resolves(guardOf(['10.0.0.9'], { allowCidrs: ['10.0.0.0/8'] }))).toBe('10.0.0.9')
    expect(await resolves(guardOf(['100.100.100.200'], { allowCidrs: ['100.64.0.0/10'] }))).toBe('BlockedAddress')
  })

  test('checks a literal host without a lookup, also in brackets', async () => {
    const guard = new AddressGuard({
      production: true,
      allowCidrs: [],
      resolver: () => Promise.reject(new Error('looked up')),
    })
    expect(await resolve(guard, '[::1]')).toMatchObject({ ok: false, errorClass: 'BlockedAddress' })
    expect(await resolve(guard, '[2606:4700::1111]')).toMatchObject({
      ok: true,
      address: '2606:4700::1111',
      family: 6,
    })
    expect(await resolve(guard, '8.8.8.8')).toMatchObject({ ok: true, address: '8.8.8.8', family: 4 })
  })

  test('in production, never permits the gateway’s own listener under any of its addresses', async () => {
    const guard = guardOf(['127.0.0.1'], { allowCidrs: ['127.0.0.0/8'] })
    guard.addOwn('0.0.0.0', 3000)
    expect(await resolves(guard, 3000)).toBe('BlockedAddress')
    expect(await resolves(guard, 3001)).toBe('127.0.0.1')
    const exact = guardOf(['::ffff:1.2.3.4'])
    exact.addOwn('1.2.3.4', 443)
    expect(await resolves(exact, 443)).toBe('BlockedAddress')
    const named = guardOf(['127.0.0.1'], { allowCidrs: ['127.0.0.0/8'] })
    named.addOwn('localhost', 3000)
    expect(await resolves(named, 3000)).toBe('BlockedAddress')
    expect(await resolves(named, 3001)).toBe('127.0.0.1')
    const dev = guardOf(['127.0.0.1'], { production: false })
    dev.addOwn('127.0.0.1', 3000)
    expect(await resolves(dev, 3000)).toBe('127.0.0.1')
  })
})

describe('a failed lookup', () => {
  test('reports a name that does not exist', async () => {
    const guard = new AddressGuard({
      production: true,
      allowCidrs: [],
      resolver: () => Promise.reject(Object.assign(new Error('secret.example'), { code: 'DNS_ENOTFOUND' })),
    })
    expect(await resolve(guard, 'secret.example')).toEqual({
      ok: false,
      errorClass: 'ENOTFOUND',
      errorMessage: "The destination's name does not exist",
    })
    expect(await resolves(guardOf([]))).toBe('ENOTFOUND')
    expect(await resolve(production, 'nowhere.invalid')).toMatchObject({ ok: false, errorClass: 'ENOTFOUND' })
  })
})
