import { expect, test } from 'bun:test'
import { loadOnce } from '../../src/core/load-once.ts'
import { failureOf } from '../support/process.ts'

test('what was loaded is kept, and a load that failed is tried again', async () => {
  let loads = 0
  const load = loadOnce(async () => {
    loads++
    if (loads === 1) throw new Error('no free file descriptor')
    return loads
  })
  expect(String(await failureOf(load()))).toContain('no free file descriptor')
  expect(await Promise.all([load(), load()])).toEqual([2, 2])
  expect([await load(true), await load()]).toEqual([3, 3])
})
