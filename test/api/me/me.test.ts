import { expect, test } from 'bun:test'
import { VERSION } from '../../../src/core/version.ts'
import { createWorld } from '../../support/world.ts'

test('each key sees its own app, its tenant and the gateway', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const other = await world.otherTenant('Other')
  const me = (key: string | null) => world.json('GET', '/v1/me', { key })
  const tenant = { tenantStatus: 'active', tenantStatusSince: expect.stringMatching(/^20.+Z$/) as unknown }
  const gateway = { ...tenant, operator: false, version: VERSION, development: true, mediaLimit: 1_500_000 }
  expect(await me(world.key)).toEqual({
    status: 200,
    body: { appId: world.app.appId, tenantId: world.tenantId, name: 'First app', tenantName: 'First', ...gateway },
  })
  expect(await me(other.apiKey)).toEqual({
    status: 200,
    body: { appId: other.appId, tenantId: other.tenantId, name: 'Other app', tenantName: 'Other', ...gateway },
  })
  expect((await me(null)).status).toBe(401)
})
