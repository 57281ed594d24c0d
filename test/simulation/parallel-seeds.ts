import { availableParallelism } from 'node:os'

const PROCESSES = Math.min(4, availableParallelism())

/** Runs `count` seeds from `first` on in several processes. Returns the violations, or an empty string. */
export async function runSeedsInProcesses(first: number, count: number): Promise<string> {
  const reports = Array.from({ length: PROCESSES }, (_, index) =>
    runProcess(first + index, Math.ceil((count - index) / PROCESSES)),
  )
  return (await Promise.all(reports)).join('')
}

async function runProcess(first: number, count: number): Promise<string> {
  const script = new URL('seeds.process.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, script, String(first), String(PROCESSES), String(count)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await new Response(child.stdout).text()
  return (await child.exited) === 0
    ? output
    : `${output}\nseeds ${first}, ${first + PROCESSES} … ended with code ${child.exitCode}`
}
