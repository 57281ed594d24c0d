import { expect, spyOn, test } from 'bun:test'
import { createWorld } from '../support/world.ts'

test('a file of the documentation page that cannot be read, as without a free file descriptor, is read again', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const status = async (): Promise<number> => (await world.call('GET', '/docs/start.js', { key: null })).status
  using file = spyOn(Bun, 'file')
  file.mockImplementationOnce(() => {
    throw new Error('EMFILE')
  })
  expect(await status()).toBe(500)
  expect(await status()).toBe(200)
})
