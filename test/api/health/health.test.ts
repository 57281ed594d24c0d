import { expect, test } from 'bun:test'
import { createWorld } from '../../support/world.ts'

test('health answers ok without a key', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const response = await world.call('GET', '/health', { key: null })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toStartWith('application/json')
  expect(await response.text()).toBe('{"status":"ok"}')
})

test('health ignores keys and counts no failed attempt', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (let attempt = 0; attempt < 12; attempt++)
    expect((await world.call('GET', '/health', { key: 'sgw_wrong' })).status).toBe(200)
  const response = await world.call('GET', '/health')
  expect(response.headers.get('ratelimit')).toBeNull()
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
})

test('health answers 503 draining while the server stops', async () => {
  await using world = await createWorld({ connect: false, work: false })
  world.gateway.lifecycle.draining = true
  const response = await world.call('GET', '/health', { key: null })
  expect(response.status).toBe(503)
  expect(await response.text()).toBe('{"status":"draining"}')
})

test('HEAD of health has the headers and no body', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const response = await world.call('HEAD', '/health', { key: null })
  expect(response.status).toBe(200)
  expect(await response.text()).toBe('')
})

test('health answers over plain HTTP in production too', async () => {
  await using world = await createWorld({ env: { NODE_ENV: 'production' } })
  expect((await world.call('GET', '/health', { key: null })).status).toBe(200)
  expect((await world.call('GET', '/health/', { key: null })).status).toBe(200)
})
