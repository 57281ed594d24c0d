import { expect, test } from 'bun:test'
import { Unblock, unblock } from '../../src/operator/unblock.ts'
import { createWorld } from '../support/world.ts'

test('sgw unblock ends the block of an address at once, also in the database', async () => {
  await using world = await createWorld({ connect: false })
  for (let time = 0; time < 10; time++) await world.call('GET', '/v1/apps', { key: 'sgw_guess' })
  expect((await world.call('GET', '/v1/apps')).status).toBe(429)
  expect(await unblock(world.gateway, Unblock.parse({ address: '127.0.0.1' }))).toEqual({
    address: '127.0.0.1',
    wasBlocked: true,
  })
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
  expect((await world.gateway.database.gate.execute('SELECT 1 FROM blocked_addresses')).rows).toEqual([])
  expect(await unblock(world.gateway, Unblock.parse({ address: '127.0.0.1' }))).toMatchObject({ wasBlocked: false })
})

test('an address is read in any form, and IPv6 by its /64', () => {
  const read = (address: string): string => Unblock.parse({ address }).address
  for (const text of ['2001:db8::7', ' 2001:0DB8:0:0:1:2:3:4 ', '2001:db8:0:0::/64'])
    expect(read(text)).toBe('2001:db8:0:0::/64')
  expect(read('::ffff:192.0.2.1')).toBe('192.0.2.1')
  for (const text of ['', 'example.com', '192.0.2.1/24'])
    expect(Unblock.safeParse({ address: text }).success).toBe(false)
})
