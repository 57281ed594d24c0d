import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A new folder in `folder` with these programs, to be the PATH of a machine that has no others. Bun is found under its name. */
export function pathWith(folder: string, ...programs: string[]): string {
  const path = join(folder, `path-${crypto.randomUUID()}`)
  mkdirSync(path)
  for (const name of programs) {
    const program = name === 'bun' ? process.execPath : Bun.which(name)
    if (program === null) throw new Error(`${name} is not installed`)
    symlinkSync(program, join(path, name))
  }
  return path
}
