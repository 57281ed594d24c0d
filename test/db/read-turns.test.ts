import { expect, test } from 'bun:test'
import { ReadTurns } from '../../src/db/read-turns.ts'

test('each tick of the event loop reads one slice, and the tenants take turns', async () => {
  const deferred: (() => void)[] = []
  const turns = new ReadTurns((run) => void deferred.push(run))
  const order: string[] = []
  const wait = async (tenantId: string, name: string): Promise<void> => {
    await turns.next(tenantId)
    order.push(name)
  }
  const all = Promise.all([wait('a', 'a1'), wait('a', 'a2'), wait('a', 'a3'), wait('b', 'b1')])
  for (let turn = 1; turn <= 4; turn++) {
    expect(deferred).toHaveLength(1)
    deferred.shift()?.()
    await Promise.resolve()
    await Promise.resolve()
    expect(order).toHaveLength(turn)
  }
  await all
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3'])
  deferred.shift()?.()
  expect(deferred).toEqual([])
})
