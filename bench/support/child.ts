import { join } from 'node:path'

/** A program of this folder in a separate process, with its own event loop and core. */
export interface Child extends Disposable {
  pid: number
  /** The first message, which the program sends when it is ready. */
  ready: unknown
  /** Sends a message and waits for the answer. Call it again only after the answer. */
  ask<Answer>(question: unknown): Promise<Answer>
}

/** Starts `bun support/<file> …args` and waits for its first message. */
export async function startChild(file: string, args: readonly string[] = []): Promise<Child> {
  const messages: unknown[] = []
  let waiting: ((message: unknown) => void) | null = null
  const child = Bun.spawn([process.execPath, join(import.meta.dir, file), ...args], {
    stdout: 'inherit',
    stderr: 'inherit',
    serialization: 'json',
    ipc: (message: unknown) => {
      if (waiting === null) messages.push(message)
      else waiting(message)
    },
    onExit: () => waiting?.({ error: `${file} ended early` }),
  })
  const next = async (): Promise<unknown> => {
    const message = messages.length > 0 ? messages.shift() : await new Promise((resolve) => (waiting = resolve))
    waiting = null
    if (typeof message === 'object' && message !== null && 'error' in message) throw new Error(String(message.error))
    return message
  }
  return {
    pid: child.pid,
    ready: await next(),
    ask: <Answer>(question: unknown) => {
      const answer = next()
      child.send(question)
      return answer as Promise<Answer>
    },
    [Symbol.dispose]: () => child.kill('SIGKILL'),
  }
}

/** Milliseconds, with fractions, of a clock that all processes of this machine share. */
export const sharedNow = (): number => performance.timeOrigin + performance.now()
