import { expect, test } from 'bun:test'
import { createWorld, recordedLog } from '../../support/world.ts'

const FORWARDED = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' }
const warnings = (lines: readonly string[]): string[] => lines.filter((line) => line.includes('TRUSTED_PROXIES'))

test('in production, forwarded headers of an untrusted peer are logged once per peer', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ env: { NODE_ENV: 'production' }, log })
  for (let time = 1; time <= 3; time++)
    expect((await world.call('GET', '/v1/apps', { headers: FORWARDED })).status).toBe(403)
  expect(warnings(lines)).toHaveLength(1)
  expect(warnings(lines)[0]).toContain('127.0.0.1')
})

test('nothing is logged for a trusted proxy or without forwarded headers', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' }, log })
  expect((await world.call('GET', '/v1/apps', { headers: FORWARDED })).status).toBe(200)
  expect((await world.call('GET', '/health')).status).toBe(200)
  expect(warnings(lines)).toEqual([])
})

test('nothing is logged in development', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log })
  await world.call('GET', '/v1/apps', { headers: FORWARDED })
  expect(warnings(lines)).toEqual([])
})
