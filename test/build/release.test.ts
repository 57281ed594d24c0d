import { $ } from 'bun'
import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from '../support/program.ts'
import { temporaryFolder } from '../support/process.ts'

test('a release needs a version, a dated changelog, a clean tree and migrations as they were released', async () => {
  using folder = temporaryFolder()
  const at = (name: string): string => join(folder.path, name)
  const git = $.cwd(folder.path)
  const commit = (): Promise<unknown> =>
    git`git add -A && git -c user.name=test -c user.email=test@example.com commit -qm change`.quiet()
  const release = async (): Promise<{ code: number; text: string }> => {
    const { exitCode, stdout, stderr } = await git`${process.execPath} scripts/release.ts --check`.nothrow().quiet()
    return { code: exitCode, text: `${stdout.toString()}${stderr.toString()}` }
  }
  for (const name of ['docs', 'drizzle']) mkdirSync(at(name))
  for (const name of ['scripts', 'src']) cpSync(join(PROJECT, name), at(name), { recursive: true, filter: isSource })
  symlinkSync(join(PROJECT, 'node_modules'), at('node_modules'))
  await Bun.write(at('.gitignore'), 'node_modules\n')
  await Bun.write(at('docs/openapi.json'), '{"info":{"x-build":"1.0.0"}}')
  await Bun.write(at('package.json'), '{"version":"1.0.0","type":"module"}')
  await Bun.write(at('CHANGELOG.md'), '# Changelog\n\n## 1.0.0 (2026-01-31)\n')
  await Bun.write(at('drizzle/0000_start.sql'), 'CREATE TABLE a (id);')
  await git`git init -q`.quiet()
  await commit()
  expect(await release()).toEqual({ code: 0, text: '1.0.0 can be released\n' })
  await git`git tag v1.0.0`.quiet()
  expect(await release()).toMatchObject({ code: 1, text: expect.stringContaining('a tag v1.0.0 already') })
  await Bun.write(at('package.json'), '{"version":"1.1.0-dev","type":"module"}')
  await Bun.write(at('CHANGELOG.md'), '# Changelog\n\n## Unreleased\n')
  await Bun.write(at('drizzle/0000_start.sql'), 'CREATE TABLE b (id);')
  await Bun.write(at('drizzle/0001_more.sql'), 'CREATE TABLE c (id);')
  const dirty = await release()
  expect(dirty.code).toBe(1)
  for (const text of ['1.1.0-dev is no version', '## Unreleased', 'not committed']) expect(dirty.text).toContain(text)
  await commit()
  await Bun.write(at('package.json'), '{"version":"1.1.0","type":"module"}')
  await Bun.write(at('CHANGELOG.md'), '# Changelog\n\n## 1.1.1 (2026-12-01)\n\n## 1.1.0 (2026-11-01)\n')
  await commit()
  const old = await release()
  expect(old.code).toBe(1)
  for (const text of ['## 1.1.0 (2026-11-01) is not older than 1.1.0', 'x-build is 1.0.0'])
    expect(old.text).toContain(text)
  await Bun.write(at('docs/openapi.json'), '{"info":{"x-build":"1.1.0"}}')
  await Bun.write(at('CHANGELOG.md'), '# Changelog\n\n## 1.1.0 (2026-12-01)\n\n## 1.0.0 (unreleased)\n')
  await commit()
  const { code, text } = await release()
  expect(code).toBe(1)
  expect(text).toBe(
    'drizzle/0000_start.sql was released with v1.0.0 and has changed: restore it, and make a new migration\n',
  )
})

const isSource = (path: string): boolean => !path.includes('node_modules')
