import { $ } from 'bun'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { buildExecutable } from '../executable.ts'
import { LICENCES_FILE, thirdPartyLicences } from '../licences.ts'
import { type Platform, isThisMachine, lockedParts } from '../platform.ts'
import { sendFirstText } from './first-text.ts'

/** What is in the archive for Linux beside the executable: everything that docs/install.md installs. */
const BESIDE = ['LICENSE', '.env.example', 'litestream.yml', 'deploy']

export interface ExecutableOptions {
  version: string
  commit: string
  /** Where the archive goes. */
  folder: string
  platform: Platform
}

/** Builds the executable for a platform, starts it if this machine can, and packs it. `fact` says which it was. */
export async function packExecutable(options: ExecutableOptions): Promise<{ file: string; fact: string }> {
  const { version, commit, folder, platform } = options
  const name = `sgw-${version}-${platform.name}`
  const stage = await mkdtemp(join(tmpdir(), 'sgw-release-'))
  try {
    const content = join(stage, name)
    await mkdir(content)
    const executable = join(content, platform.os === 'win32' ? 'sgw.exe' : 'sgw')
    await buildExecutable(executable, platform, await lockedParts(platform), commit)
    const fact = await tryOut(executable, platform)
    for (const path of platform.os === 'linux' ? BESIDE : ['LICENSE'])
      await cp(path, join(content, path), { recursive: true })
    await Bun.write(join(content, LICENCES_FILE), await thirdPartyLicences())
    const file = `${name}.tar.gz`
    await packFolder(content, join(folder, file))
    return { file, fact }
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
}

/** The same content makes the same archive: no times, no owners, no umask. */
async function packFolder(content: string, file: string): Promise<void> {
  const options = '--sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=ustar'.split(
    ' ',
  )
  const names = [dirname(content), basename(content)]
  await $`tar --create ${options} --directory ${names} | gzip --no-name > ${file}`.quiet()
}

async function tryOut(executable: string, platform: Platform): Promise<string> {
  const starter = starterOf(platform)
  if (starter === null) return 'built, not started: this machine cannot'
  const ms = await sendFirstText([...starter.command, executable])
  return `started${starter.by}: its first text was sent after ${(ms / 1000).toFixed(1)} s`
}

/** What starts an executable of this platform here; null if nothing does. */
function starterOf(platform: Platform): { command: string[]; by: string } | null {
  if (isThisMachine(platform)) return { command: [], by: '' }
  const emulator = Bun.which('qemu-aarch64-static') ?? Bun.which('qemu-aarch64')
  if (process.platform !== 'linux' || platform.name !== 'linux-arm64' || emulator === null) return null
  // The libraries of Debian's packages libc6-arm64-cross and libstdc++6-arm64-cross.
  return { command: [emulator, '-L', '/usr/aarch64-linux-gnu'], by: ' by qemu' }
}
