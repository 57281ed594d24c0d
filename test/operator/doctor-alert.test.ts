import { expect, test } from 'bun:test'
import { diagnose } from '../../src/operator/doctor.ts'
import { startReceiver } from '../support/receiver.ts'
import { createWorld } from '../support/world.ts'

const check = async (env: Record<string, string>, alert = true) => {
  await using world = await createWorld({ connect: false, work: false, env })
  return (await diagnose(world.gateway, { alert })).find((finding) => finding.check === 'alert')
}

test('the doctor posts a test alert when asked to', async () => {
  await using receiver = startReceiver()
  expect(await check({ ALERT_URL: receiver.url })).toMatchObject({ ok: true, level: 'ok' })
  expect(receiver.requests.map(({ body }) => body)).toEqual([
    { text: expect.any(String), alert: 'test', state: 'firing', since: expect.any(String), detail: {} },
  ])
  expect(await check({ ALERT_URL: receiver.url }, false)).toBeUndefined()
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
  expect(blocked?.ok).toBe(false)
  expect(blocked?.detail).not.toContain('SECRET')
})
