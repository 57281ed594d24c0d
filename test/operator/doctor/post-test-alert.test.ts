import { expect, test } from 'bun:test'
import type { Finding } from '../../../src/operator/doctor/finding.ts'
import { operate } from '../../support/operator.ts'
import { startReceiver } from '../../support/receiver.ts'
import { HOME, createWorld } from '../../support/world.ts'

const check = async (env: Record<string, string>): Promise<Finding> => {
  await using world = await createWorld({ connect: false, work: false, env })
  const { status, body } = await operate<Finding>(world, 'POST', '/v1/operator/alerts/test')
  expect(status).toBe(200)
  return body
}

test('a test alert is posted when asked for', async () => {
  await using receiver = startReceiver()
  expect(await check({ ALERT_URL: receiver.url })).toMatchObject({ ok: true, level: 'ok' })
  expect(receiver.requests.map(({ body }) => body)).toEqual([
    { text: expect.any(String), alert: 'test', state: 'firing', since: expect.any(String), detail: {} },
  ])
})

test('at home a test alert reaches a program at an http:// address that WEBHOOK_ALLOW_CIDRS allows', async () => {
  await using receiver = startReceiver()
  const env = { ...HOME, ALERT_URL: receiver.url.replace('localhost', '127.0.0.1'), WEBHOOK_ALLOW_CIDRS: '127.0.0.1' }
  expect(await check(env)).toMatchObject({ ok: true, level: 'ok' })
  expect(receiver.requests).toHaveLength(1)
})

test('the test alert fails without ALERT_URL, and if the address refuses it', async () => {
  expect(await check({})).toMatchObject({
    ok: false,
    level: 'fail',
    detail: expect.stringContaining('ALERT_URL is not set'),
  })
  await using receiver = startReceiver(500)
  expect(await check({ ALERT_URL: `${receiver.url}/SECRET` })).toMatchObject({
    ok: false,
    detail: expect.stringContaining('answered 500'),
  })
  const blocked = await check({ ALERT_URL: 'http://169.254.169.254/SECRET' })
  expect(blocked.ok).toBe(false)
  expect(blocked.detail).not.toContain('SECRET')
})
