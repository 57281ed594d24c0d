import { $ } from 'bun'
import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
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
    const { exitCode, stdout, stderr } = await git`${process.execPath} scripts/release.ts`.nothrow().quiet()
    return { code: exitCode, text: `${stdout.toString()}${stderr.toString()}` }
  }
  for (const name of ['scripts', 'drizzle']) mkdirSync(at(name))
  await Bun.write(at('scripts/release.ts'), Bun.file(join(PROJECT, 'scripts/release.ts')))
  await Bun.write(at('package.json'), '{"version":"1.0.0","type":"module"}')
  await Bun.write(at('CHANGELOG.md'), '# Changelog\n\n## 1.0.0 (2026-01-31)\n')
  await Bun.write(at('drizzle/0000_start.sql'), 'CREATE TABLE a (id);')
  await git`git init -q`.quiet()
  await commit()
  expect(await release()).toMatchObject({ code: 0, text: expect.stringContaining('git tag --annotate v1.0.0') })
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
  await Bun.write(at('CHANGELOG.md'), '# Changelog\n\n## 1.1.0 (2026-12-01)\n')
  await commit()
  const { code, text } = await release()
  expect(code).toBe(1)
  expect(text).toBe(
    'drizzle/0000_start.sql was released with v1.0.0 and has changed: restore it, and make a new migration\n',
  )
})
