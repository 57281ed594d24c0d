import { expect, spyOn, test } from 'bun:test'
import { statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { SCRIPTS, createPageFiles, pageFiles } from '../../src/console/page-files.ts'
import { PROJECT } from '../support/program.ts'

test('a bundle that fails, as without a free file descriptor, is made again by the next request', async () => {
  const files = createPageFiles()
  using build = spyOn(Bun, 'build')
  build.mockRejectedValueOnce(new Error('EMFILE'))
  const failure: unknown = await files({ isAnew: true }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Error)
  expect((await files({ isAnew: false })).get('main.js').file.bytes.length).toBeGreaterThan(1000)
})

test('in development the page is bundled anew after a change of its source, and only then', async () => {
  const files = createPageFiles()
  const first = await files({ isAnew: true })
  expect(await files({ isAnew: true })).toBe(first)
  const source = join(PROJECT, 'src/console/page/index.html')
  const { atime, mtime } = statSync(source)
  utimesSync(source, atime, new Date(mtime.getTime() - 1000))
  const changed = await files({ isAnew: true }).finally(() => utimesSync(source, atime, mtime))
  expect(changed).not.toBe(first)
  expect(await files({ isAnew: false })).toBe(changed)
})

/** Compressed bytes, of bench/README.md. What a file brings includes its styles. */
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
