import { expect, test } from 'bun:test'
import { ask } from '../../support/raw-http.ts'
import { type World, createWorld } from '../../support/world.ts'

// What proxies write into X-Forwarded-For and X-Forwarded-Proto, and what clients write before them.

const behindProxy = (env: Record<string, string> = {}): Promise<World> =>
  createWorld({ connect: false, work: false, env: { TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, fd00::/8', ...env } })

const statusOf = async (world: World, ...lines: string[]): Promise<number> => {
  const head = ['GET /v1/apps HTTP/1.1', 'Host: sms.example.com', `Authorization: Bearer ${world.key}`]
  return (await ask(world.url, [...head, 'Connection: close', ...lines])).status
}

/** Each list of lines names one client, however it is written. */
async function named(client: string, same: string[][], other: string[][]): Promise<void> {
  await using world = await behindProxy()
  for (let attempt = 0; attempt < 10; attempt++)
    await world.call('GET', '/v1/apps', { key: `sgw_wrong${attempt}`, headers: { 'x-forwarded-for': client } })
  for (const lines of same) expect([lines, await statusOf(world, ...lines)]).toEqual([lines, 429])
  for (const lines of other) expect([lines, await statusOf(world, ...lines)]).toEqual([lines, 200])
}

const forwarded = (...values: string[]): string[] => values.map((value) => `X-Forwarded-For: ${value}`)

test(
  'a client is the same by whatever spelling of X-Forwarded-For a trusted proxy names it',
  () =>
    named(
      '203.0.113.7',
      [
        forwarded('203.0.113.7'),
        forwarded('  203.0.113.7\t'),
        forwarded('203.0.113.7:4711'),
        forwarded('::ffff:203.0.113.7'),
        forwarded('[::ffff:203.0.113.7]:4711'),
        forwarded('[::ffff:cb00:7107]'),
        forwarded('198.51.100.1,203.0.113.7'),
        forwarded('198.51.100.1 ,\t203.0.113.7 , 10.0.0.2'),
        forwarded('203.0.113.7, 10.0.0.2:80, [fd00::2]:80'),
        forwarded('198.51.100.1', '203.0.113.7'),
        forwarded('198.51.100.1', '203.0.113.7', '10.0.0.2'),
        forwarded(', ,, 203.0.113.7'),
        forwarded('unknown, _hidden, "203.0.113.9", 203.0.113.7'),
        forwarded('', '203.0.113.7'),
        [...forwarded('203.0.113.7'), 'Forwarded: for=198.51.100.1', 'X-Real-IP: 198.51.100.1'],
        ['x-forwarded-for:203.0.113.7'],
      ],
      [
        forwarded('203.0.113.7, 198.51.100.1'),
        forwarded('203.0.113.7', '198.51.100.1'),
        // The nearest that is an address counts: here the proxy's own.
        forwarded('203.0.113.7, '),
        forwarded('203.0.113.7,,'),
        forwarded('203.0.113.7, unknown'),
        forwarded('203.0.113.7, 198.51.100.1:port'),
        forwarded('203.0.113.7 198.51.100.1'),
        forwarded('203.0.113.7;198.51.100.1'),
        forwarded('203.0.113.7:'),
        forwarded('203.0.113.7:123456'),
        forwarded('[203.0.113.7]x'),
        forwarded('0313.0.0161.07'),
        forwarded('0xcb007107'),
        forwarded('3405803783'),
        forwarded('203.0.28935'),
        forwarded(''),
        [],
      ],
    ),
  30_000,
)

test(
  'an IPv6 client is the same by whatever spelling, with or without brackets and port',
  () =>
    named(
      '2001:db8:1:2::7',
      [
        forwarded('2001:db8:1:2::7'),
        forwarded('[2001:db8:1:2::7]'),
        forwarded('[2001:db8:1:2::7]:4711'),
        forwarded('2001:0DB8:0001:0002:0:0:0:9'),
        forwarded('[2001:db8:1:2::7]:4711, [fd00::1]:80 ,10.0.0.1'),
      ],
      [
        forwarded('2001:db8:1:3::7'),
        forwarded('[2001:db8:1:2::7'),
        forwarded('2001:db8:1:2::7]'),
        forwarded('[2001:db8:1:2::7]:'),
        forwarded('[[2001:db8:1:2::7]]'),
        forwarded('2001:db8:1:2::7/64'),
        forwarded('"[2001:db8:1:2::7]"'),
      ],
    ),
  30_000,
)

test('X-Forwarded-Proto means HTTPS only if the last value of the last line is just that', async () => {
  await using world = await behindProxy({ NODE_ENV: 'production' })
  const proto = (...values: string[]): Promise<number> =>
    statusOf(world, ...values.map((value) => `X-Forwarded-Proto: ${value}`))
  for (const values of [['https'], ['\thttps  '], ['http,https'], ['http ,\tHTTPS'], ['http', 'https'], [',https']])
    expect([values, await proto(...values)]).toEqual([values, 200])
  const not = ['', ' ', ',', 'https,', 'https, ', 'https;', '"https"', 'https http', 'https://', 'httpss', 'on', '1']
  for (const value of not) expect([value, await proto(value)]).toEqual([value, 403])
  for (const values of [['https', 'http'], ['https', ''], []])
    expect([values, await proto(...values)]).toEqual([values, 403])
})
