import { expect, test } from 'bun:test'
import { HAS_LITESTREAM } from '../support/litestream.ts'
import { temporaryFolder } from '../support/process.ts'
import { type Finished, LoggedProgram, finished, freePort } from '../support/program.ts'
import { until } from '../support/world.ts'

const COMMAND = [process.execPath, 'scripts/dev-ha.ts']
const shell = (command: string): Promise<Finished> => finished(['sh', '-c', command], {})

if (HAS_LITESTREAM) {
  test('bun run dev:ha starts two gateways; each one that works can be asked and killed, and the other one accepts at the same address', async () => {
    using folder = temporaryFolder()
    const port = freePort()
    // A proxy that Docker or a company sets everywhere changes nothing.
    const env = { PORT: String(port), HTTP_PROXY: `http://127.0.0.1:${freePort()}` }
    await using pair = new LoggedProgram({ command: COMMAND, env, log: folder.file('log') })
    const [, send = ''] = await until(() => /(curl .*)/.exec(pair.output()), 40_000)
    expect(send).toContain(`http://127.0.0.1:${port}/`)
    const accepted = async (): Promise<boolean> => (await shell(send)).stdout.includes('queued')
    const holder = async (before: number): Promise<{ kill: string; pid: string; ask: string }> => {
      const shown = /(kill -9 (\d+)) [^]*?(DATABASE_URL=.* lease)/
      const [, kill = '', pid = '', ask = ''] = await until(() => shown.exec(pair.output().slice(before)), 40_000)
      return { kill, pid, ask }
    }
    const first = await holder(0)
    expect(await accepted()).toBe(true)
    expect((await shell(first.ask)).stdout).toMatch(/role +active/)
    const before = pair.output().length
    await shell(first.kill)
    const second = await holder(before)
    expect(second.pid).not.toBe(first.pid)
    expect((await shell(second.ask)).stdout).toMatch(/role +active/)
    await until(accepted)
    const beforeSecond = pair.output().length
    await shell(second.kill)
    expect((await holder(beforeSecond)).pid).not.toBe(second.pid)
    pair.signal('SIGINT')
    expect(await pair.ended()).toBe(0)
  }, 180_000)

  test('bun run dev:ha at a port in use says so in one line and ends with 69', async () => {
    using other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const line = `Port ${other.port} is in use: stop the other program, or set PORT to a free one\n`
    const ended = { code: 69, stdout: '', stderr: line }
    expect(await finished(COMMAND, { PORT: String(other.port) })).toEqual(ended)
    expect(await finished([...COMMAND, '--port', String(other.port)], {})).toEqual(ended)
  })
}

test('bun run dev:ha says which Litestream it needs and how to get it', async () => {
  const { code, stderr } = await finished(COMMAND, { TEST_LITESTREAM: 'none' })
  expect({ code, stderr }).toEqual({
    code: 69,
    stderr: expect.stringMatching(/Litestream 0\.5\.18 in the PATH .*, or Go /),
  })
})
