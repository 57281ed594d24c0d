import { expect, test } from 'bun:test'
import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import { HOME, type World, createWorld, recordedLog } from '../../support/world.ts'

const ADDRESS = 'http://127.0.0.1:8080/sms?token=secret'

async function storeAddresses({ gateway }: World): Promise<void> {
  const { gate } = gateway.database
  await gate.execute({ sql: 'UPDATE apps SET webhook_url = ?1', args: [ADDRESS] })
  await gate.execute({
    sql: `INSERT INTO triggers (id, tenant_id, callback_url, secret, created_at) SELECT 'trg_1', tenant_id, ?1, webhook_secret, 1 FROM apps LIMIT 1`,
    args: [ADDRESS],
  })
}

const webhooksOf = async (world: World) => (await diagnose(world.gateway)).find(({ check }) => check === 'webhooks')

test('webhook addresses that the configuration refuses now are named, without their path, and with the setting that allows them', async () => {
  await using world = await createWorld({ env: HOME, work: false })
  expect(await webhooksOf(world)).toMatchObject({ level: 'ok' })
  await storeAddresses(world)
  const { detail = '', level } = (await webhooksOf(world)) ?? {}
  expect(level).toBe('warn')
  expect(detail).toContain('trg_1 (http://127.0.0.1:8080): without PUBLIC_URL http:// is allowed to literal addresses')
  expect(detail).toContain('WEBHOOK_ALLOW_CIDRS')
  expect(detail).not.toContain('secret')
  await world.gateway.database.gate.execute(`UPDATE tenants SET status = 'inactive'`)
  expect(await webhooksOf(world)).toMatchObject({ level: 'ok' })
})

test('an address in WEBHOOK_ALLOW_CIDRS is none of them, until there is a public address', async () => {
  const allowed = { WEBHOOK_ALLOW_CIDRS: '127.0.0.1' }
  await using home = await createWorld({ env: { ...HOME, ...allowed }, work: false })
  await storeAddresses(home)
  expect(await webhooksOf(home)).toMatchObject({ level: 'ok' })
  await using reached = await createWorld({ env: { NODE_ENV: 'production', ...allowed }, work: false })
  await storeAddresses(reached)
  expect(await webhooksOf(reached)).toMatchObject({
    level: 'warn',
    detail: expect.stringContaining('with PUBLIC_URL an address must begin with https://'),
  })
})

test('a start says once which they are', async () => {
  await using before = await createWorld({ env: HOME, work: false })
  await storeAddresses(before)
  await before.running.stop()
  const { log, lines } = recordedLog()
  await using _after = await createWorld({ env: HOME, work: false, folder: before.folder, log })
  expect(lines.filter((line) => line.includes('webhooks are not posted to'))).toHaveLength(1)
})
