import { expect, test } from 'bun:test'
import { openDatabase } from '../../../src/db/database.ts'
import { Entries } from '../../../src/messages/sending/entries.ts'
import { NumberQueue, newEntry } from '../../../src/messages/sending/number-queue.ts'
import { readQueue } from '../../../src/messages/sending/read-queue.ts'

test('an entry that returns before its queue is read does not hide earlier ones', async () => {
  const { gate, close } = await openDatabase({ url: ':memory:', authToken: null, path: null, litestream: false })
  const job = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, contact, created_at) VALUES (?1, 'send', '+1', 't', ?1, '+2', 0)`
  for (const id of ['first', 'second', 'third', 'fourth']) await gate.execute({ sql: job, args: [id] })
  const entries = new Entries()
  const queue = new NumberQueue('t', '+1', true)
  // An open attempt of an earlier run was found absent.
  const third = newEntry(queue, 'third', '+2', 3)
  entries.add(third)
  queue.insert(third)
  await readQueue(gate, entries, queue)
  expect(queue.waiting.map(({ messageId }) => messageId)).toEqual(['first', 'second', 'third', 'fourth'])
  await close()
})
