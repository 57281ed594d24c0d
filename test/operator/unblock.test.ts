import { expect, test } from 'bun:test'
import { operate } from '../support/operator.ts'
import { type World, createWorld } from '../support/world.ts'

const unblock = (world: World, address: unknown) => operate(world, 'POST', '/v1/operator/unblock', { address })

test('sgw unblock ends the block of an address at once, also in the database', async () => {
  await using world = await createWorld({ connect: false })
  for (let time = 0; time < 10; time++) await world.call('GET', '/v1/apps', { key: 'sgw_guess' })
  expect((await world.call('GET', '/v1/apps')).status).toBe(429)
  expect(await unblock(world, '127.0.0.1')).toEqual({ status: 200, body: { address: '127.0.0.1', wasBlocked: true } })
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
  expect((await world.gateway.database.gate.execute('SELECT 1 FROM blocked_addresses')).rows).toEqual([])
  expect((await unblock(world, '127.0.0.1')).body).toMatchObject({ wasBlocked: false })
})

test('an address is read in any form, and IPv6 by its /64', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const read = async (address: string): Promise<unknown> => (await unblock(world, address)).body['address']
  for (const text of ['2001:db8::7', ' 2001:0DB8:0:0:1:2:3:4 ', '2001:db8:0:0::/64'])
    expect(await read(text)).toBe('2001:db8:0:0::/64')
  expect(await read('::ffff:192.0.2.1')).toBe('192.0.2.1')
  for (const text of ['', 'example.com', '192.0.2.1/24', '192.0.2', 5])
    expect(await unblock(world, text)).toEqual({ status: 400, body: { error: 'address must be an IP address' } })
})
