import { $ } from 'bun'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** A platform that there is an executable for, by Bun's name of it. */
export interface Platform {
  name: string
  os: 'linux' | 'darwin' | 'win32'
  cpu: 'x64' | 'arm64'
  /** The package with the native addon of the database. */
  addon: string
  /** The package with Bun. */
  bun: string
}

export const PLATFORMS: readonly Platform[] = [
  { name: 'linux-x64', os: 'linux', cpu: 'x64', addon: '@libsql/linux-x64-gnu', bun: '@oven/bun-linux-x64' },
  { name: 'linux-arm64', os: 'linux', cpu: 'arm64', addon: '@libsql/linux-arm64-gnu', bun: '@oven/bun-linux-aarch64' },
  { name: 'darwin-x64', os: 'darwin', cpu: 'x64', addon: '@libsql/darwin-x64', bun: '@oven/bun-darwin-x64' },
  { name: 'darwin-arm64', os: 'darwin', cpu: 'arm64', addon: '@libsql/darwin-arm64', bun: '@oven/bun-darwin-aarch64' },
  { name: 'windows-x64', os: 'win32', cpu: 'x64', addon: '@libsql/win32-x64-msvc', bun: '@oven/bun-windows-x64' },
]

/** The parts of an executable besides our code. */
export interface Parts {
  /** The native addon, as a package name or a folder. */
  addon: string
  /** Bun's executable; null is the one that runs this. */
  bun: string | null
}

const LOCKED = resolve(import.meta.dir, 'platforms')

/** Throws with the names that exist. */
export function platformOf(name: string): Platform {
  const platform = PLATFORMS.find((candidate) => candidate.name === name)
  const names = PLATFORMS.map((candidate) => candidate.name).join(', ')
  if (platform === undefined) throw new Error(`There is no build for ${name}: use one of ${names}`)
  return platform
}

export const isThisMachine = ({ os, cpu }: Platform): boolean => os === process.platform && cpu === process.arch

/** The parts that this checkout has: those of this machine. */
export const installedParts = ({ addon }: Platform): Parts => ({ addon, bun: null })

/** The parts that `scripts/platforms/bun.lock` has. Downloads them, for any platform, from the registry that the machine uses. */
export async function lockedParts(platform: Platform): Promise<Parts> {
  const { os, cpu } = platform
  const { exitCode, stderr } = await $`${process.execPath} install --frozen-lockfile --os=${os} --cpu=${cpu}`
    .cwd(LOCKED)
    .nothrow()
    .quiet()
  const addon = `${LOCKED}/node_modules/${platform.addon}`
  const bun = `${LOCKED}/node_modules/${platform.bun}/bin/bun${os === 'win32' ? '.exe' : ''}`
  if (exitCode !== 0 || !existsSync(addon) || !existsSync(bun))
    throw new Error(`${platform.bun} and ${platform.addon} cannot be downloaded:\n${stderr.toString()}`)
  return { addon, bun }
}
