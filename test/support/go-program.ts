import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from './program.ts'

const CACHE = join(PROJECT, 'node_modules/.cache/go')
/** A build of Litestream takes four minutes of a processor. */
const BUILD_LIMIT_MS = 400_000

/**
 * Returns the path of a program that Go builds, for example `github.com/OWNER/NAME/cmd/NAME@v1.2.3`. Null if Go is not
 * installed or cannot fetch the source. The path contains the version, so each version is built once.
 */
export function goProgram(source: string): string | null {
  const [path = '', version = ''] = source.split('@')
  const name = path.split('/').at(-1) ?? ''
  const folder = join(CACHE, `${name}-${version}`)
  const program = join(folder, name)
  if (existsSync(program)) return program
  return Bun.which('go') !== null && build(source, folder) ? program : null
}

/** Builds under a temporary name, so that several test runs may build at once. */
function build(source: string, folder: string): boolean {
  process.stderr.write(`Building ${source}, once\n`)
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  const { exitCode, stderr } = Bun.spawnSync(['go', 'install', source], {
    env: { ...process.env, GOBIN: unfinished },
    stdout: 'ignore',
    timeout: BUILD_LIMIT_MS,
  })
  if (exitCode !== 0) {
    process.stderr.write(`${stderr.toString()}${source} could not be built\n`)
    rmSync(unfinished, { recursive: true })
    return false
  }
  if (!existsSync(folder)) renameSync(unfinished, folder)
  rmSync(unfinished, { recursive: true, force: true })
  return true
}
