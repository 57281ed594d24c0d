import { expect, spyOn, test } from 'bun:test'
import { readOldestMessage, readQueue } from '../../../src/messages/gateway-state/queue.ts'
import { createWorld } from '../../support/world.ts'

test('however many jobs there are, they are counted on the reader thread and by indexes alone', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gate, reader } = world.gateway.database
  await world.send()
  const batch = spyOn(gate, 'batch')
  const execute = spyOn(gate, 'execute')
  const read = spyOn(reader, 'longRead')
  expect(await readQueue(world.gateway)).toMatchObject({ jobs: { send: 1, webhook: 0 }, openAttempts: 0 })
  expect(await readOldestMessage(world.gateway)).toMatchObject({ messageId: expect.stringContaining('msg_') })
  expect([batch.mock.calls, execute.mock.calls]).toEqual([[], []])
  const statements = read.mock.calls.map(([, sql]) => sql)
  expect(statements).toHaveLength(2)
  execute.mockRestore()
  for (const sql of statements) {
    const { rows } = await gate.execute(`EXPLAIN QUERY PLAN ${sql}`)
    const plan = rows.map(({ detail }) => String(detail))
    expect(plan).toContainEqual(expect.stringMatching(/^(SCAN|SEARCH) jobs USING/))
    expect(plan.filter((detail) => /^SCAN (jobs|next|send_attempts)$/.test(detail))).toEqual([])
  }
})

test('the oldest message is found behind those of suspended tenants, in the same queue, before it and after it', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { gate } = world.gateway.database
  const tenant = (id: string, status: string) =>
    gate.execute(
      `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES ('${id}', '', '${status}', 0, 0)`,
    )
  const job = (tenantId: string, lane: string, subject: string) =>
    gate.execute(
      `INSERT INTO jobs (id, kind, lane, tenant_id, subject, created_at) VALUES ('', 'send', '${lane}', '${tenantId}', '${subject}', 1)`,
    )
  for (const [id, status] of [
    ['a', 'suspended'],
    ['b', 'active'],
    ['c', 'inactive'],
    ['d', 'active'],
  ] as const)
    await tenant(id, status)
  for (const [subject, tenantId, lane] of [
    ['held 1', 'a', '+1'],
    ['held 2', 'c', '+2'],
    ['held 3', 'a', '+3'],
    ['oldest', 'd', '+2'],
    ['later 1', 'b', '+1'],
    ['later 2', 'b', '+2'],
    ['later 3', 'd', '+2'],
    ['held 4', 'c', '+4'],
  ] as const)
    await job(tenantId, lane, subject)
  expect(await readOldestMessage(world.gateway)).toMatchObject({ messageId: 'oldest' })
  await gate.execute(`DELETE FROM jobs WHERE tenant_id IN ('b', 'd')`)
  expect(await readOldestMessage(world.gateway)).toBeNull()
})
