import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { join } from 'node:path'

const FOLDER = join(import.meta.dir, '../../docs/decisions')

test('each decision has a number of its own, which its title repeats', async () => {
  const numbers: string[] = []
  for (const path of new Glob('**/[0-9]*.md').scanSync(FOLDER)) {
    const number = /(\d{4})-[^/]+$/.exec(path)?.[1] ?? ''
    expect(await Bun.file(join(FOLDER, path)).text()).toStartWith(`# ${Number(number)}. `)
    numbers.push(number)
  }
  expect(numbers.length).toBeGreaterThan(50)
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([])
})
