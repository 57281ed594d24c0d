import { expect, spyOn, test } from 'bun:test'
import { pageFiles } from '../../src/console/page-files.ts'

test('a bundle that fails, as without a free file descriptor, is made again by the next request', async () => {
  using build = spyOn(Bun, 'build')
  build.mockRejectedValueOnce(new Error('EMFILE'))
  const failure: unknown = await pageFiles({ isAnew: true }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Error)
  expect((await pageFiles({ isAnew: false })).get('main.js').file.bytes.length).toBeGreaterThan(1000)
})
