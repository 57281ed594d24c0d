import { resolve } from 'node:path'
import { z } from 'zod'
import { StartError } from '../core/start-error.ts'
import { openDataFolder } from '../db/data-folder.ts'
import { ask } from './ask.ts'
import { type CliContext, CliError } from './context.ts'
import { print } from './print.ts'

const Stopping = z.object({ pid: z.int() })

/** Longer than any stop takes. */
const PATIENCE_MS = 15_000
const PAUSE_MS = 20

/** Stops the running server, and waits until its process has ended. */
export async function stop(context: CliContext): Promise<void> {
  const answer = await ask(context, { method: 'POST', path: '/v1/operator/stop', needs: 'server' })
  const { pid } = Stopping.parse(answer)
  const deadline = performance.now() + PATIENCE_MS
  // The process id of a server in another container means nothing here. Its lock does.
  while (isRunning(pid) || !(await isFree(resolve(context.config.database.path ?? 'sgw.db')))) {
    if (performance.now() > deadline) throw new CliError(`The server, process ${pid}, is still stopping`)
    await Bun.sleep(PAUSE_MS)
  }
  print(context, { pid })
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Whether no process has the lock of the database. */
async function isFree(path: string): Promise<boolean> {
  try {
    ;(await openDataFolder(path, 0)).release()
    return true
  } catch (error) {
    if (error instanceof StartError) return false
    throw error
  }
}
