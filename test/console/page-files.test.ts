import { expect, spyOn, test } from 'bun:test'
import { SCRIPTS, pageFiles } from '../../src/console/page-files.ts'

test('a bundle that fails, as without a free file descriptor, is made again by the next request', async () => {
  using build = spyOn(Bun, 'build')
  build.mockRejectedValueOnce(new Error('EMFILE'))
  const failure: unknown = await pageFiles({ isAnew: true }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Error)
  expect((await pageFiles({ isAnew: false })).get('main.js').file.bytes.length).toBeGreaterThan(1000)
})

/** Compressed bytes, of docs/performance.md. What a file brings includes its styles. */
const MAX_BYTES = { 'main.js': 22_000, others: 12_000 } as const

for (const name of SCRIPTS)
  test(`${name} is light, compressed as production serves it`, async () => {
    const request = new Request('http://localhost/', { headers: { 'accept-encoding': 'br' } })
    const files = await pageFiles({ isAnew: false })
    await files.compressBest()
    const response = files.get(name).answer(request)
    expect(response.headers.get('content-encoding')).toBe('br')
    expect((await response.bytes()).length).toBeLessThanOrEqual(name === 'main.js' ? MAX_BYTES[name] : MAX_BYTES.others)
  })

test('each script of the bundle is served, and takes nothing from elsewhere', async () => {
  const files = await pageFiles({ isAnew: false })
  for (const name of SCRIPTS) {
    const text = new TextDecoder().decode(files.get(name).file.bytes)
    const sources = new Bun.Transpiler({ loader: 'js' }).scanImports(text).map(({ path }) => path.replace('./', ''))
    expect([...SCRIPTS] as string[]).toEqual(expect.arrayContaining(sources))
  }
})
