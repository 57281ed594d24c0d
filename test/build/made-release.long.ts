import { $ } from 'bun'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { pathWith } from '../support/path-with.ts'
import { temporaryFolder } from '../support/process.ts'
import { type Finished, PROJECT, finished } from '../support/program.ts'

const VERSION = '9.9.9'
const PLATFORM = `${process.platform}-${process.arch}`
const FILES = [
  'NOTES.md',
  'SHA256SUMS',
  'THIRD-PARTY-LICENSES.txt',
  `sgw-${VERSION}-dependencies.cdx.json`,
  `sgw-${VERSION}-${PLATFORM}.tar.gz`,
  `sgw-${VERSION}.tgz`,
  `sgw-client-${VERSION}.tgz`,
]

/** What the page says that a maintainer needs. There is no builder of images. */
const TOOLS = ['sh', 'bun', 'node', 'npm', 'git', 'tar', 'gzip']

const folder = temporaryFolder()
afterAll(() => folder[Symbol.dispose]())
let made: Finished
const out = folder.file('first/dist/release')

beforeAll(async () => {
  await checkout('first')
  made = await release('first')
}, 120_000)

/** A clean checkout of this tree that can be released as 9.9.9. */
async function checkout(name: string): Promise<void> {
  const path = folder.file(name)
  mkdirSync(path)
  await $`git ls-files -z | xargs -0 cp --parents --target-directory ${path}`.cwd(PROJECT)
  await edit(`${name}/package.json`, (text) => text.replace(/"version": ".*"/, `"version": "${VERSION}"`))
  await edit(`${name}/docs/openapi.json`, (text) => text.replace(/"x-build": ".*"/, `"x-build": "${VERSION}"`))
  await edit(`${name}/CHANGELOG.md`, (text) =>
    text.replace(/^## .*/m, `## ${VERSION} (2026-12-01)\n\nNew in this one.\n\n## 1.1.1 (2026-11-30)`),
  )
  // The same commit each time.
  const env = { ...process.env, GIT_AUTHOR_DATE: '@1 +0000', GIT_COMMITTER_DATE: '@1 +0000' }
  await $`git init -q && git add -A && git -c user.name=test -c user.email=test@example.com commit -qm all`
    .cwd(path)
    .env(env)
    .quiet()
}

async function edit(name: string, change: (text: string) => string): Promise<void> {
  const file = Bun.file(folder.file(name))
  await Bun.write(file, change(await file.text()))
}

const release = (name: string): Promise<Finished> =>
  finished(
    [process.execPath, 'run', 'release', '--target', PLATFORM],
    { HOME: process.env['HOME'] ?? '', PATH: pathWith(folder.path, ...TOOLS) },
    folder.file(name),
  )

test('a release has an executable that has sent a text, the packages, the dependencies, the notes and their sums', async () => {
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/started: its first text was sent after \d/)])
  expect(readdirSync(out).toSorted()).toEqual(FILES)
  expect(await finished(['sha256sum', '--check', '--strict', 'SHA256SUMS'], {}, out)).toMatchObject({ code: 0 })
  expect(await Bun.file(`${out}/NOTES.md`).text()).toBe(`# sgw ${VERSION}\n\nNew in this one.\n`)
  for (const text of [
    'not made: neither Docker, Podman nor Buildah runs here',
    'git tag --annotate v9.9.9',
    'gh release create v9.9.9',
    'npm publish dist/release/sgw-client',
  ])
    expect(made.stdout).toContain(text)
})

test('the archive has all that the manual installs, with its modes and nobody’s name', async () => {
  const name = `sgw-${VERSION}-${PLATFORM}`
  const list = (await $`tar --list --verbose --gzip --file ${out}/${name}.tar.gz`.text()).trim().split('\n')
  const entries = list.map((line) => line.split(/\s+/)).map(([mode, owner, , , , path]) => `${mode} ${owner} ${path}`)
  for (const entry of [
    `-rwxr-xr-x 0/0 ${name}/sgw`,
    `-rwxr-xr-x 0/0 ${name}/deploy/entrypoint.sh`,
    `-rw-r--r-- 0/0 ${name}/deploy/sgw.service`,
    `-rw-r--r-- 0/0 ${name}/.env.example`,
    `-rw-r--r-- 0/0 ${name}/litestream.yml`,
    `-rw-r--r-- 0/0 ${name}/LICENSE`,
    `-rw-r--r-- 0/0 ${name}/THIRD-PARTY-LICENSES.txt`,
  ])
    expect(entries).toContain(entry)
})

test('the list of dependencies names each with version, hash and licence', async () => {
  const list = (await Bun.file(`${out}/sgw-${VERSION}-dependencies.cdx.json`).json()) as {
    bomFormat: string
    components: { purl: string; hashes: { content: string }[]; licenses: object[] }[]
  }
  expect(list.bomFormat).toBe('CycloneDX')
  const names = list.components.map(({ purl }) => purl.replace(/@[^@]+$/, ''))
  for (const name of ['elysia', '%40libsql/linux-x64-gnu', '%40oven/bun-linux-x64'])
    expect(names).toContain(`pkg:npm/${name}`)
  // What only the tests need is not a part of it.
  for (const name of ['playwright-core', 'axe-core', 'oxlint']) expect(names).not.toContain(`pkg:npm/${name}`)
  for (const { hashes, licenses } of list.components)
    expect([hashes[0]?.content.length, licenses.length]).toEqual([128, 1])
})

test('the licence of each dependency is in the folder, in the archive and in the package, with its text', async () => {
  const text = await Bun.file(`${out}/THIRD-PARTY-LICENSES.txt`).text()
  const name = `sgw-${VERSION}-${PLATFORM}`
  for (const [archive, inside] of [
    [`${name}.tar.gz`, `${name}/THIRD-PARTY-LICENSES.txt`],
    [`sgw-${VERSION}.tgz`, 'package/dist/THIRD-PARTY-LICENSES.txt'],
  ])
    expect(await $`tar --extract --to-stdout --file ${out}/${archive} ${inside}`.text()).toBe(text)
  const list = (await Bun.file(`${out}/sgw-${VERSION}-dependencies.cdx.json`).json()) as {
    components: { group?: string; name: string; version: string }[]
  }
  const [introduction = '', ...sections] = text.split(/^={80}\n\n/m)
  expect(introduction).toContain(`Bun ${Bun.version}`)
  // Bun and the native addon of each platform have no folder here: the introduction names them.
  const others = list.components.filter(
    ({ group, name: part }) => group !== '@oven' && !/^(linux|darwin|win32)-/.test(part),
  )
  expect(sections.map((section) => section.split('\n')[0] ?? '').toSorted()).toEqual(
    others
      .map(({ group, name: part, version }) => `${group === undefined ? '' : `${group}/`}${part} ${version}`)
      .toSorted(),
  )
  for (const section of sections)
    expect(section).toMatch(
      /Permission is hereby granted|Permission to use|Redistribution and use|Apache License|Blue Oak/,
    )
})

test('the same commit makes the same sums in another folder', async () => {
  await checkout('second')
  expect(await release('second')).toMatchObject({ code: 0 })
  const sums = (name: string): Promise<string> => Bun.file(folder.file(`${name}/dist/release/SHA256SUMS`)).text()
  expect(await sums('second')).toBe(await sums('first'))
}, 120_000)

test('a change that is not committed is refused before anything is made', async () => {
  await edit('first/README.md', (text) => `${text}More.\n`)
  const before = readdirSync(out)
  const { code, stderr } = await release('first')
  expect([code, stderr]).toEqual([1, expect.stringContaining('README.md')])
  expect(readdirSync(out)).toEqual(before)
})
