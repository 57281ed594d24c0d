import { expect, test } from 'bun:test'
import { isoTime } from '../../src/core/clock.ts'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { manualClock } from '../support/manual-clock.ts'
import { operate } from '../support/operator.ts'
import { type World, createWorld, until } from '../support/world.ts'

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

test('the status and the doctor name each blocked address, until when, and the command that ends it', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, clock, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  const told = async (): Promise<unknown[]> => {
    const { body } = await operate(world, 'GET', '/v1/operator/status')
    const found = (await diagnose(world.gateway)).find(({ check }) => check === 'blocked addresses')
    return [body['blocked'], found?.level, found?.detail]
  }
  const block = async (address: string): Promise<string> => {
    for (let time = 0; time < 10; time++)
      await world.call('GET', '/v1/apps', { key: 'sgw_guess', headers: { 'x-forwarded-for': address } })
    const row = { sql: 'SELECT 1 FROM blocked_addresses WHERE address = ?1', args: [address] }
    // It counts at once, and is stored a moment later.
    await until(async () => (await world.gateway.database.gate.execute(row)).rows.length === 1)
    return `${address} until ${isoTime(clock.now() + 15 * 60_000)}`
  }
  const sentence = (named: string, address: string): string =>
    `blocked, even for valid keys, because ten wrong keys came from there: ${named}. Correct the client, then sgw unblock ${address}`
  const free = [null, 'ok', 'none is blocked']
  expect(await told()).toEqual(free)
  const blocks = [await block('203.0.113.1')]
  const one = sentence(blocks.join(), '203.0.113.1')
  expect(await told()).toEqual([one, 'warn', one])
  for (let last = 2; last <= 7; last++) {
    clock.advance(1000)
    blocks.unshift(await block(`203.0.113.${last}`))
  }
  const seven = sentence(`${blocks.slice(0, 5).join(', ')} and 2 more`, 'ADDRESS')
  expect(await told()).toEqual([seven, 'warn', seven])
  clock.advance(14 * 60_000 + 59_999)
  const last = sentence(blocks[0] ?? '', '203.0.113.7')
  expect(await told()).toEqual([last, 'warn', last])
  await unblock(world, '203.0.113.7')
  expect(await told()).toEqual(free)
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
