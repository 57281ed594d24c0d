import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const WITHIN_MS = 120_000

/** Starts an executable in an empty folder and sends a text, as its first user does. Returns the milliseconds until it was sent. */
export async function sendFirstText(command: readonly string[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sgw-first-'))
  const [home, cwd] = [join(folder, 'home'), join(folder, 'empty')]
  for (const path of [home, cwd]) await mkdir(path)
  const options = { cwd, env: { PATH: '/usr/bin:/bin', HOME: home, PORT: '0' } }
  const startedAt = performance.now()
  const server = Bun.spawn([...command, 'start'], { ...options, stdout: 'ignore', stderr: 'ignore' })
  try {
    const text = ['--json', 'send', '--from', '+15555550100', '--to', '+15555550199', '--wait', 'Hello']
    for (;;) {
      const sending = Bun.spawn([...command, ...text], { ...options, stdout: 'pipe', stderr: 'pipe' })
      const [answer, problem] = await Promise.all([sending.stdout.text(), sending.stderr.text()])
      const ms = performance.now() - startedAt
      if ((await sending.exited) === 0 && isSent(answer)) return ms
      if (server.exitCode !== null) throw new Error(`${command.join(' ')} start ended with ${server.exitCode}`)
      if (ms > WITHIN_MS) throw new Error(`${command.join(' ')} sends no text: ${answer}${problem}`)
      await Bun.sleep(100)
    }
  } finally {
    server.kill()
    await server.exited
    await rm(folder, { recursive: true, force: true })
  }
}

const isSent = (answer: string): boolean => (JSON.parse(answer) as { status?: string }).status === 'sent'
