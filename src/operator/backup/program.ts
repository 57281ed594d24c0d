import { EXIT, StartError } from '../../core/start-error.ts'
import { type BackupSettings, environmentOf } from './settings.ts'

/** How a run of Litestream ended. */
export interface Ended {
  code: number
  stdout: string
  /** The message in the last line of its output. */
  reason: string
  timedOut: boolean
}

export interface RunLimits {
  /** How long the run may take. With `progress`, how long it may take without progress. */
  timeoutMs: number
  /** Returns a value that changes as long as the run makes progress. */
  progress?(): string
}

const LOOK_MS = 250

/** Runs a command of Litestream to its end or its time limit. Errors: `StartError` if it cannot be run. */
export async function runLitestream(settings: BackupSettings, words: string[], limits: RunLimits): Promise<Ended> {
  const [verb = '', ...rest] = words
  const child = spawn(settings, [verb, '-config', settings.configPath, ...rest])
  let timedOut = false
  const timer = watch(limits, () => {
    timedOut = true
    child.kill('SIGKILL')
  })
  try {
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    const reason = timedOut ? `no answer within ${seconds(limits.timeoutMs)} s` : reasonIn(`${stdout}\n${stderr}`)
    return { code, stdout, reason, timedOut }
  } finally {
    clearInterval(timer)
  }
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10

/** What a version can do: before 0.5.18 its exit code hides that the last copy failed. */
export type LitestreamAge = 'before 0.5.18' | 'current'

/** Errors: `StartError` if the program cannot be run, or is older than 0.5, whose backups have another form. */
export async function readAge(settings: BackupSettings): Promise<LitestreamAge> {
  const text = (await spawn(settings, ['version']).stdout.text()).trim()
  const [major = 1, minor = 0, patch = 0] = (/^v?(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number)
  if (major > 0 || minor > 5) return 'current'
  if (minor < 5)
    throw new StartError(EXIT.unavailable, `${settings.program} is older than Litestream 0.5: install 0.5.18 or later`)
  return patch < 18 ? 'before 0.5.18' : 'current'
}

function spawn(settings: BackupSettings, words: string[]) {
  const { program } = settings
  try {
    return Bun.spawn([program, ...words], {
      env: environmentOf(settings),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
  } catch {
    throw new StartError(
      EXIT.unavailable,
      `${program} cannot be run: install Litestream, or set LITESTREAM_COMMAND to its path`,
    )
  }
}

function watch({ timeoutMs, progress = () => '' }: RunLimits, giveUp: () => void): ReturnType<typeof setInterval> {
  let seen = progress()
  let since = performance.now()
  return setInterval(() => {
    const now = progress()
    if (now !== seen) since = performance.now()
    seen = now
    if (performance.now() - since >= timeoutMs) giveUp()
  }, LOOK_MS)
}

/** The error in a structured line (`time=… level=ERROR msg="failed to run" error="…"`). */
export function reasonIn(output: string): string {
  const line = output.trim().split('\n').at(-1) ?? ''
  const error = / error=("(?:[^"\\]|\\.)*"|\S+)$/.exec(line)?.[1]
  if (error === undefined) return line.replace(/^Error: /, '')
  return unquoted(error).replaceAll(/\s+/g, ' ').trim()
}

/** Go quotes values with spaces almost as JSON does. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}
