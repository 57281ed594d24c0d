import { expect, test } from 'bun:test'
import { createWorld } from '../../support/world.ts'

test('ready is 200 only while messages are accepted and sent, without a key, also by plain HTTP in production', async () => {
  await using world = await createWorld({ env: { NODE_ENV: 'production' } })
  const ready = async (): Promise<[number, string]> => {
    const response = await world.call('GET', '/ready', { key: null })
    return [response.status, await response.text()]
  }
  expect(await ready()).toEqual([200, '{"status":"ready"}'])
  world.gateway.lifecycle.working = false
  expect(await ready()).toEqual([503, '{"status":"starting"}'])
  world.gateway.lifecycle.draining = true
  expect(await ready()).toEqual([503, '{"status":"draining"}'])
})

test('ready answers no other method, and counts no failed attempt', async () => {
  await using world = await createWorld({ connect: false })
  expect((await world.call('POST', '/ready', { key: null, body: {} })).status).toBe(404)
  for (let attempt = 0; attempt < 12; attempt++)
    expect((await world.call('GET', '/ready', { key: 'sgw_wrong' })).status).toBe(200)
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
})
