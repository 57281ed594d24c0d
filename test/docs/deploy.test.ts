import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from '../support/program.ts'

const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8')

/** Folders that a page or a file names as the location of a backup. */
const namedIn = (path: string): string[] =>
  [...read(path).matchAll(/file:\/\/(\/(?!FOLDER)[\w/]+)/g)].map(([, folder = '']) => folder)

test('every folder that is named for a backup is writable under the systemd unit or in Compose', () => {
  const underUnit = /^ReadWritePaths=-(\S+)$/m.exec(read('deploy/sgw.service'))?.[1] ?? 'none'
  const inCompose = /\$\{SGW_BACKUPS:-backups\}:(\/\w+)/.exec(read('compose.yaml'))?.[1] ?? 'none'
  const named = ['docs/backup.md', 'docs/install.md', '.env.example', 'compose.yaml', 'deploy/sgw.service'].flatMap(
    namedIn,
  )
  expect(named).toContain(underUnit)
  expect(named).toContain(`${inCompose}/sgw`)
  expect(named.filter((folder) => folder !== underUnit && folder !== `${inCompose}/sgw`)).toEqual([])
})

test("the image's folders belong to its user, so that volumes mounted over them do, too", () => {
  const dockerfile = read('Dockerfile')
  expect(dockerfile).toMatch(/mkdir \/data \/backups && chown bun:bun \/data \/backups/)
  expect(dockerfile.indexOf('chown bun:bun')).toBeLessThan(dockerfile.indexOf('USER bun'))
})

test('the manual, the image and the tests use the same Litestream', () => {
  const version = /litestream@v([\d.]+)/.exec(read('test/support/litestream.ts'))?.[1] ?? ''
  expect(read('Dockerfile')).toContain(`FROM litestream/litestream:${version} `)
  expect(read('docs/install.md')).toContain(`litestream-${version}-linux-x86_64.tar.gz`)
  expect(read('docs/backup.md')).toContain(`Litestream ${version} or later`)
})
