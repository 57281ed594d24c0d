import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { pngOf } from '../../support/media.ts'
import { temporaryFolder } from '../../support/process.ts'
import { LoggedProgram, freePort } from '../../support/program.ts'

setDefaultTimeout(120_000)

const MAX_MIB = 60

/** Resident memory, MiB. */
const rssMib = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

test('64 uploads of 1.5 MB at once all succeed, and memory stays within 60 MiB of idle', async () => {
  using folder = temporaryFolder()
  const port = freePort()
  await using gateway = new LoggedProgram({
    command: ['bun', 'src/main.ts'],
    env: { PORT: String(port), DATABASE_URL: `file:${folder.file('sgw.db')}`, KEY_LIMIT_PER_MINUTE: '100000' },
    log: folder.file('log'),
  })
  await gateway.serving(`http://127.0.0.1:${port}/health`)
  const key = readFileSync(folder.file('development-api-key'), 'utf8').trim()
  const upload = async (seed: number): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/sms/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png' },
      body: pngOf(1_500_000, seed),
    })
    await answer.body?.cancel()
    return answer.status
  }
  // They fill the page cache of SQLite (32 MiB), as any traffic does in the end.
  for (let seed = 100; seed < 124; seed++) await upload(seed)
  await Bun.sleep(1000)
  const idle = rssMib(gateway.pid)
  let peak = idle
  const watching = setInterval(() => (peak = Math.max(peak, rssMib(gateway.pid))), 2)
  const statuses = await Promise.all(Array.from({ length: 64 }, (_, seed) => upload(seed)))
  clearInterval(watching)
  console.log(
    `memory: ${Math.round(idle)} MiB idle, ${Math.round(peak)} MiB at most, ${Math.round(rssMib(gateway.pid))} MiB after`,
  )
  expect(new Set(statuses)).toEqual(new Set([201]))
  expect(peak - idle).toBeLessThan(MAX_MIB)
})
