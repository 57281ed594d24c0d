import { expect, test } from 'bun:test'
import { expectError } from '../support/expect-error.ts'
import { createWorld } from '../support/world.ts'

test('the header must begin with exactly Bearer sgw_', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const authorization of [
    `bearer ${world.key}`,
    `Bearer  ${world.key}`,
    world.key,
    'Bearer',
    'Bearer SGW_x',
    `Token ${world.key}`,
  ]) {
    await expectError(
      await world.call('GET', '/v1/apps', { key: null, headers: { authorization } }),
      401,
      'Missing or invalid API key',
    )
  }
})

test('a key must match in every character', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const key of [
    world.key.slice(0, -1),
    `${world.key}x`,
    `${world.key.slice(0, -1)}!`,
    'sgw_',
    world.app.apiKeyPrefix,
    `sgw_${'x'.repeat(5000)}`,
  ]) {
    await expectError(await world.call('GET', '/v1/apps', { key }), 401, 'Invalid API key')
  }
})

test('a key in the query or in a cookie is ignored', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const headers = { cookie: `authorization=Bearer ${world.key}` }
  await expectError(
    await world.call('GET', `/v1/apps?apiKey=${world.key}&authorization=Bearer%20${world.key}`, { key: null, headers }),
    401,
    'Missing or invalid API key',
  )
})

test('every endpoint that is not declared open requires a key', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const closed = [
    ['POST', '/v1/sms/send'],
    ['GET', '/v1/sms/status/msg_0123456789ab'],
    ['GET', '/v1/sms/messages'],
    ['DELETE', '/v1/sms/msg_0123456789ab'],
    ['POST', '/v1/apps/register'],
    ['GET', '/v1/apps'],
    ['PUT', `/v1/apps/${world.app.appId}`],
    ['DELETE', `/v1/apps/${world.app.appId}`],
    ['POST', `/v1/apps/${world.app.appId}/rotate-key`],
    ['POST', `/v1/apps/${world.app.appId}/rotate-webhook-secret`],
    ['POST', `/v1/apps/${world.app.appId}/test-webhook`],
    ['POST', '/v1/rc/connect-token'],
    ['POST', '/v1/rc/invite-token'],
    ['GET', '/v1/rc/status'],
    ['GET', '/v1/rc/extensions'],
    ['POST', '/v1/rc/disconnect'],
    ['GET', '/v1/webhook-deliveries'],
    ['POST', '/v1/ws/token'],
    ['DELETE', '/v1/rc/connect'],
    ['POST', '/v1/rc/callback'],
    ['GET', '/v1/webhooks/provider'],
  ] as const
  for (const [method, path] of closed)
    await expectError(await world.call(method, path, { key: null }), 401, 'Missing or invalid API key')
})

test('a key survives a restart', async () => {
  await using first = await createWorld({ connect: false, work: false })
  await first.running.stop()
  await using second = await createWorld({ connect: false, work: false, folder: first.folder })
  expect((await second.call('GET', '/v1/apps', { key: first.key })).status).toBe(200)
})
