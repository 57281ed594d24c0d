import { expect, test } from 'bun:test'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { rotateAppKey } from '../../src/operator/apps.ts'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { startReceiver } from '../support/receiver.ts'
import { type World, createWorld, recordedLog } from '../support/world.ts'

const newKey = (): string => crypto.getRandomValues(new Uint8Array(32)).toBase64()

const ready = async (world: World): Promise<object> => {
  const answer = await fetch(`${world.running.adminUrl}/ready`)
  return { status: answer.status, body: await answer.json() }
}

/** A world whose database has apps of two encryption keys, of which it has only the second. The first app's key is lost. */
async function halfLost(env: Record<string, string> = {}) {
  const [old, current] = [newKey(), newKey()]
  const options = { connect: false }
  const first = await createWorld({ ...options, env: { ENCRYPTION_KEYS: old } })
  await first.running.stop()
  const second = await createWorld({
    ...options,
    folder: first.folder,
    env: { ENCRYPTION_KEYS: `${current},${old}` },
  })
  await second.running.stop()
  const { log, lines } = recordedLog()
  const more = { ENCRYPTION_KEYS: current, ADMIN_PORT: '0', ...env }
  const world = await createWorld({ ...options, log, folder: first.folder, env: more })
  return { world, lines, lost: first.app, kept: second.app }
}

test('with some keys lost, /ready is 503, an alert and the doctor name the apps, and failed keys block nobody', async () => {
  const { world, lines, lost, kept } = await halfLost()
  await using _world = world
  expect(lines.find((line) => line.includes('ENCRYPTION_KEYS'))).toContain(lost.appId)
  expect(await ready(world)).toEqual({ status: 503, body: { status: 'encryption key missing' } })
  for (let time = 0; time < 12; time++)
    expect((await world.call('GET', '/v1/apps', { key: lost.apiKey })).status).toBe(401)
  expect((await world.call('GET', '/v1/apps', { key: kept.apiKey })).status).toBe(200)
  await using receiver = startReceiver()
  const alerts = new Alerts(world.gateway, receiver.url)
  await alerts.run()
  const found = (await diagnose(world.gateway)).find(({ check }) => check === 'encryption keys')
  expect(found?.level).toBe('fail')
  expect(found?.detail).toContain(lost.appId)
  expect(found?.detail).not.toContain(kept.appId)
  const firing = { alert: 'encryption_key_missing', state: 'firing', text: expect.stringContaining(lost.appId) }
  expect(receiver.requests.map(({ body }) => body)).toMatchObject([firing])

  // The app gets a new key and a new webhook secret.
  const { apiKey: key } = await rotateAppKey(world.gateway, { appId: lost.appId })
  expect((await world.call('POST', `/v1/apps/${lost.appId}/rotate-webhook-secret`, { key })).status).toBe(200)
  expect(await world.gateway.lostKeys.check()).toBeNull()
  expect(await ready(world)).toMatchObject({ status: 200 })
  await alerts.run()
  expect(receiver.requests.at(-1)?.body).toMatchObject({ alert: 'encryption_key_missing', state: 'resolved' })
  for (let time = 0; time < 10; time++) await world.call('GET', '/v1/apps', { key: lost.apiKey })
  expect((await world.call('GET', '/v1/apps')).status).toBe(429)
})

test('with ALLOW_NEW_KEYS the gateway is ready although some secrets are lost', async () => {
  const { world } = await halfLost({ ALLOW_NEW_KEYS: 'on' })
  await using _world = world
  expect(await ready(world)).toMatchObject({ status: 200 })
  const levels = (await diagnose(world.gateway)).map(({ check, level }) => `${check} ${level}`)
  expect(levels).toContain('encryption keys fail')
})

test('an inactive app and a revoked extension need no key', async () => {
  const { world, lost } = await halfLost()
  await using _world = world
  await world.gateway.database.gate.execute({ sql: 'UPDATE apps SET is_active = 0 WHERE id = ?1', args: [lost.appId] })
  expect(await world.gateway.lostKeys.check()).toBeNull()
})
