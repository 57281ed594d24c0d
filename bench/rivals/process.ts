/** A process of any program. It is ended by its id when this process exits, at the latest. */
export interface Process {
  pid: number
  /** Returns the first line that it prints. Throws if it ends before. */
  firstLine(): Promise<string>
  /** Sends SIGKILL and waits for the end. */
  end(): Promise<void>
}

const live = new Set<Bun.Subprocess>()

export function startProcess(command: string[], options: { cwd?: string; env?: Record<string, string> } = {}): Process {
  const child = Bun.spawn(command, {
    cwd: options.cwd ?? import.meta.dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...options.env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  live.add(child)
  void child.exited.then(() => live.delete(child))
  return {
    pid: child.pid,
    firstLine: () => firstLine(child.stdout, command.join(' ')),
    end: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** Ends the processes if this one exits early. */
process.on('exit', () => {
  for (const child of live) child.kill('SIGKILL')
})

async function firstLine(stream: ReadableStream<Uint8Array>, command: string): Promise<string> {
  let text = ''
  for await (const chunk of stream) {
    text += new TextDecoder().decode(chunk)
    if (text.includes('\n')) return text.split('\n')[0] ?? ''
  }
  throw new Error(`${command} ended before it said anything`)
}

/** Returns null while nothing listens. */
export async function listening(port: number): Promise<true | null> {
  const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).catch(() => null)
  socket?.end()
  return socket === null ? null : true
}
