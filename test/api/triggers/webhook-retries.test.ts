import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { createWorld } from '../../support/world.ts'

test('the default policy of a trigger is `none`, and every app of the tenant can set another one', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { body } = await world.json('POST', '/v1/triggers', { body: { callbackUrl: 'http://127.0.0.1:9/hook' } })
  const path = `/v1/triggers/${String(body['triggerId'])}/webhook-retries`
  expect(await world.json('GET', path)).toEqual({ status: 200, body: { policy: 'none' } })
  const { apiKey } = await world.secondApp()
  expect(await world.json('PUT', path, { key: apiKey, body: { policy: 'standard' } })).toEqual({
    status: 200,
    body: { ok: true },
  })
  expect((await world.json('GET', path)).body).toEqual({ policy: 'standard' })
  for (const policy of [undefined, null, 7, 'SHORT', ['short'], {}])
    await expectError(await world.call('PUT', path, { body: { policy } }), 400, 'Invalid policy')
  for (const broken of ['[]', '{', '"short"'])
    await expectError(await world.call('PUT', path, { body: broken }), 400, 'Invalid JSON')
  expect((await world.json('GET', path)).body).toEqual({ policy: 'standard' })
})

test('an unknown trigger is not found', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const path = '/v1/triggers/trg_0123456789abcdef/webhook-retries'
  await expectError(await world.call('GET', path), 404, 'Trigger not found')
  await expectError(await world.call('PUT', path, { body: { policy: 'short' } }), 404, 'Trigger not found')
  await expectError(await world.call('GET', '/v1/triggers/TRG/webhook-retries'), 400, 'Invalid triggerId format')
})
