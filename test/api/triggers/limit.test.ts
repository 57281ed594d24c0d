import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectError } from '../../support/expect-error.ts'
import { startReceiver } from '../../support/receiver.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const REACHED = 'Tenant has reached its limit of 50 triggers'

const create = (world: World, callbackUrl = 'http://127.0.0.1:9/hook'): Promise<Response> =>
  world.call('POST', '/v1/triggers', { body: { callbackUrl } })

const numberOf = async (world: World, sql: string): Promise<number> =>
  Number((await world.gateway.database.gate.execute(sql)).rows[0]?.['n'])

test('of 500 simultaneous requests, 50 create a trigger and 450 are refused; a deletion makes room for another', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const answers = await Promise.all(Array.from({ length: 500 }, () => create(world)))
  const created = answers.filter(({ status }) => status === 201)
  const [first] = created
  expect(created).toHaveLength(50)
  for (const answer of answers.filter(({ status }) => status !== 201)) await expectError(answer, 409, REACHED)
  const body = (await first?.json()) as { triggerId: string }
  await world.call('DELETE', `/v1/triggers/${body.triggerId}`)
  expect((await create(world)).status).toBe(201)
  await expectError(await create(world), 409, REACHED)
  const listed = await world.json<{ triggers: unknown[] }>('GET', '/v1/triggers')
  expect(listed.body.triggers).toHaveLength(50)
})

test('250 triggers of an earlier release each receive a message once, also across a restart', async () => {
  await using receiver = startReceiver()
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  const received = (): unknown[] => receiver.requests.map(({ body }) => body['triggerId'])
  {
    await using world = await createWorld({ folder, work: false, env: { MAX_TRIGGERS_PER_TENANT: '250' } })
    await Promise.all(Array.from({ length: 250 }, () => create(world, receiver.url)))
    await world.control.injectSms({ text: 'to all of you' })
    expect(await numberOf(world, "SELECT count(*) AS n FROM jobs WHERE kind = 'webhook'")).toBe(250)
  }
  await using world = await createWorld({ folder, connect: false })
  await until(() => receiver.requests.length >= 250)
  await until(async () => (await numberOf(world, "SELECT count(*) AS n FROM jobs WHERE kind != 'back_fill'")) === 0)
  expect(received()).toHaveLength(250)
  expect(new Set(received()).size).toBe(250)
  rmSync(folder, { recursive: true })
})

test('a list shows at most the oldest thousand triggers', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await world.gateway.database.gate.execute({
    sql: `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
      INSERT INTO triggers (id, tenant_id, callback_url, secret, created_at)
      SELECT printf('trg_%016x', n), ?1, 'http://127.0.0.1:9/', 'sealed', n FROM n`,
    args: [world.tenantId],
  })
  const { body } = await world.json<{ triggers: { triggerId: string }[] }>('GET', '/v1/triggers')
  expect(body.triggers).toHaveLength(1000)
  expect(body.triggers[999]?.triggerId).toBe(`trg_${(1000).toString(16).padStart(16, '0')}`)
})
