import { expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { packImage } from '../../scripts/release/image.ts'
import { temporaryFolder } from '../support/process.ts'
import { PROJECT, finished } from '../support/program.ts'

const CALL = `import { packImage } from '${PROJECT}/scripts/release/image.ts'
  console.log(JSON.stringify(await packImage({ version: '1.1.0', commit: 'c0ffee', folder: '.' })))`

type Image = Awaited<ReturnType<typeof packImage>>

/** What happens to the image on a machine with these builders: each is a shell script that stands for the program of its name. */
async function pack(builders: Record<string, string>) {
  using folder = temporaryFolder()
  for (const [name, script] of Object.entries(builders)) {
    writeFileSync(folder.file(name), `#!/bin/sh\necho "${name} $*" >> calls\n${script}\n`)
    chmodSync(folder.file(name), 0o755)
  }
  const { stdout, stderr } = await finished([process.execPath, '-e', CALL], { PATH: folder.path }, folder.path)
  if (stdout === '') throw new Error(stderr)
  const calls = folder.file('calls')
  return { ...(JSON.parse(stdout) as Image), calls: existsSync(calls) ? readFileSync(calls, 'utf8') : '' }
}

const FILE = `sgw-1.1.0-image-${process.platform}-${process.arch}.tar`

test('without a builder the release says that it has no image', async () => {
  const fact = 'not made: neither Docker, Podman nor Buildah runs here'
  expect(await pack({})).toEqual({ file: FILE, isMade: false, fact, calls: '' })
  // Docker's client is there, and no daemon answers.
  expect(await pack({ docker: '[ $1 != info ]' })).toEqual({ file: FILE, isMade: false, fact, calls: 'docker info\n' })
})

test('the first builder that runs makes an OCI archive, with version and commit in it', async () => {
  const { calls, ...result } = await pack({ docker: '[ $1 != info ]', podman: '', buildah: '' })
  expect(result).toEqual({ file: FILE, isMade: true, fact: 'made by podman' })
  expect(calls.split('\n').slice(1)).toEqual([
    'podman info',
    'podman build --build-arg COMMIT=c0ffee --build-arg VERSION=1.1.0 --tag sgw:1.1.0 .',
    `podman save --format oci-archive --output ${FILE} sgw:1.1.0`,
    '',
  ])
})

test('a build that fails is named with the reason, and nothing is saved', async () => {
  const { calls, ...result } = await pack({ buildah: '[ $1 = info ] || { echo "no space" >&2; exit 1; }' })
  expect(result).toEqual({ file: FILE, isMade: false, fact: 'not made: buildah failed: no space' })
  expect(calls).not.toContain('push')
})
