import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { createWorld } from '../../support/world.ts'

test('a new key works at once, and the old one stops working', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const response = await world.call('POST', `/v1/apps/${world.app.appId}/rotate-key`)
  expect(response.status).toBe(200)
  const rotated = (await response.json()) as { apiKey: string; apiKeyPrefix: string }
  expect(rotated).toEqual({
    apiKey: expect.stringMatching(/^sgw_[A-Za-z0-9_-]{43}$/),
    apiKeyPrefix: rotated.apiKey.slice(0, 12),
  })
  await expectError(await world.call('GET', '/v1/apps'), 401, 'Invalid API key')
  const { body } = await world.json<{ apps: { apiKeyPrefix: string }[] }>('GET', '/v1/apps', { key: rotated.apiKey })
  expect(body.apps[0]?.apiKeyPrefix).toBe(rotated.apiKeyPrefix)
})

test('after several simultaneous rotations exactly one key works', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const responses = await Promise.all(
    Array.from({ length: 5 }, () => world.call('POST', `/v1/apps/${world.app.appId}/rotate-key`)),
  )
  const answers = await Promise.all(responses.map((response) => response.json() as Promise<{ apiKey?: string }>))
  const keys = answers.flatMap(({ apiKey }) => (apiKey === undefined ? [] : [apiKey]))
  const working = await Promise.all(
    keys.map(async (key) => (await world.call('GET', '/v1/apps', { key })).status === 200),
  )
  expect(working.filter(Boolean)).toHaveLength(1)
})

test('a rotation creates a new webhook secret', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const response = await world.call('POST', `/v1/apps/${world.app.appId}/rotate-webhook-secret`)
  expect(response.status).toBe(200)
  const body = (await response.json()) as { webhookSecret: string }
  expect(body).toEqual({ webhookSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) })
  expect(body.webhookSecret).not.toBe(world.app.webhookSecret)
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
})

test('the body of a rotation is ignored', async () => {
  await using world = await createWorld({ connect: false, work: false })
  expect(
    (await world.call('POST', `/v1/apps/${world.app.appId}/rotate-webhook-secret`, { body: '{broken' })).status,
  ).toBe(200)
})
