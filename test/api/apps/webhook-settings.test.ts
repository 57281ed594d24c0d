import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { createWorld } from '../../support/world.ts'

const OK = { status: 200, body: { ok: true } }

test('the default policy of an app is `none`', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const path = `/v1/apps/${world.app.appId}/webhook-retries`
  expect(await world.json('GET', path)).toEqual({ status: 200, body: { policy: 'none' } })
  for (const policy of ['short', 'standard', 'none']) {
    expect(await world.json('PUT', path, { body: { policy } })).toEqual(OK)
    expect(await world.json('GET', path)).toEqual({ status: 200, body: { policy } })
  }
})

test('an app is subscribed to sms_inbound by default; duplicates count once, and an empty list is allowed', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const path = `/v1/apps/${world.app.appId}/webhook-events`
  const read = async (): Promise<unknown> => (await world.json('GET', path)).body
  expect(await read()).toEqual({ events: ['sms_inbound'] })
  expect(await world.json('PUT', path, { body: { events: ['sms_status', 'sms_inbound', 'sms_status'] } })).toEqual(OK)
  expect(await read()).toEqual({ events: ['sms_inbound', 'sms_status'] })
  await world.json('PUT', path, { body: { events: [] } })
  expect(await read()).toEqual({ events: [] })
  await world.json('PUT', path, { body: { events: ['opt_out', 'sms_delivery'] } })
  expect(await read()).toEqual({ events: ['sms_delivery', 'opt_out'] })
})

const NEITHER = [undefined, null, 7, true, '', 'None', 'none\0', 'x'.repeat(10_000), {}]

const BAD_POLICIES = [...NEITHER, ['short']]
const BAD_EVENTS = [...NEITHER, [null], ['sms_sent'], ['sms_status', 7], [['sms_status']], { 0: 'sms_status' }]

test('a bad policy or list of events is refused and changes nothing', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const at = (name: string): string => `/v1/apps/${world.app.appId}/${name}`
  for (const policy of BAD_POLICIES)
    await expectError(await world.call('PUT', at('webhook-retries'), { body: { policy } }), 400, 'Invalid policy')
  for (const events of BAD_EVENTS)
    await expectError(await world.call('PUT', at('webhook-events'), { body: { events } }), 400, 'Invalid events')
  for (const name of ['webhook-retries', 'webhook-events'])
    for (const body of ['[]', '7', '"short"', '{'])
      await expectError(await world.call('PUT', at(name), { body }), 400, 'Invalid JSON')
  expect((await world.json('GET', at('webhook-retries'))).body).toEqual({ policy: 'none' })
  expect((await world.json('GET', at('webhook-events'))).body).toEqual({ events: ['sms_inbound'] })
})

test('a list of more than 100 events is refused before its entries are read', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const path = `/v1/apps/${world.app.appId}/webhook-events`
  const repeated = (count: number): object => ({ body: { events: Array(count).fill('sms_status') } })
  expect(await world.json('PUT', path, repeated(100))).toEqual(OK)
  await expectError(await world.call('PUT', path, repeated(101)), 400, 'Invalid events')
  const numbers = { body: { events: Array(51_000).fill(1) } }
  await expectError(await world.call('PUT', path, numbers), 400, 'Invalid events')
})

test('an app can read and change only its own settings, not those of another app of the tenant', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { appId } = await world.secondApp()
  for (const name of ['webhook-retries', 'webhook-events']) {
    await expectError(await world.call('GET', `/v1/apps/${appId}/${name}`), 404, 'App not found')
    const body = { policy: 'short', events: [] }
    await expectError(await world.call('PUT', `/v1/apps/${appId}/${name}`, { body }), 404, 'App not found')
    await expectError(await world.call('GET', `/v1/apps/APP/${name}`), 400, 'Invalid appId format')
  }
})
