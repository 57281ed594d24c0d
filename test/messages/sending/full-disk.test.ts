import { expect, test } from 'bun:test'
import { createWorld, until } from '../../support/world.ts'

const isFull = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })

test('a request that a full disk refused causes no further write', async () => {
  await using world = await createWorld()
  const { writer } = world.gateway.database
  const { row, write } = { row: writer.row.bind(writer), write: writer.write.bind(writer) }
  world.gateway.quota.pause(world.control.extensions()[0]?.extensionId ?? '', 'medium', 60_000)
  const undone: string[] = []
  writer.row = () => Promise.reject(isFull)
  writer.write = (statements) => {
    undone.push(...statements.map(({ sql }) => sql))
    return Promise.reject(isFull)
  }
  const send = () =>
    world.call('POST', '/v1/sms/send', { body: { from: '+15555550100', to: '+15555550199', body: 'x' } })
  const answers = await Promise.all(Array.from({ length: 20 }, send))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(503))
  Object.assign(writer, { row, write })
  // No attempt was about to begin, so there is none to undo.
  expect(undone.filter((sql) => sql.startsWith('UPDATE send_attempts'))).toEqual([])
  await until(() => [...world.gateway.sending.scheduler.queues.all()].length === 0)
})
