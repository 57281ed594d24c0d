/** A process of any program, ended by its own id whatever becomes of this one. */
export interface Process {
  pid: number
  /** The first line that it prints. Throws if it ends before. */
  firstLine(): Promise<string>
  /** SIGKILL, and waits for the end. */
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

/** No process is left behind when this one ends early. */
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

/** Answers null while nothing listens. */
export async function listening(port: number): Promise<true | null> {
  const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).catch(() => null)
  socket?.end()
  return socket === null ? null : true
}
