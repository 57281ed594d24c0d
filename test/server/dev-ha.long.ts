import { expect, test } from 'bun:test'
import { IS_LITESTREAM_5 } from '../support/litestream.ts'
import { temporaryFolder } from '../support/process.ts'
import { LoggedProgram, finished, freePort } from '../support/program.ts'
import { until } from '../support/world.ts'

const COMMAND = [process.execPath, 'scripts/dev-ha.ts']

if (IS_LITESTREAM_5)
  test('bun run dev:ha starts two gateways; when the one that works is killed, the other one accepts at the same address', async () => {
    using folder = temporaryFolder()
    await using pair = new LoggedProgram({
      command: [...COMMAND, '--port', String(freePort())],
      env: {},
      log: folder.file('log'),
    })
    const [, send = '', pid = ''] = await until(() => /(curl .*)[^]*kill -9 (\d+)/.exec(pair.output()), 40_000)
    const accepted = async (): Promise<boolean> => (await finished(['sh', '-c', send], {})).stdout.includes('queued')
    expect(await accepted()).toBe(true)
    const before = pair.output().length
    process.kill(Number(pid), 'SIGKILL')
    const takenBy = await until(() => /pid (\d+) {2}ready/.exec(pair.output().slice(before))?.[1], 40_000)
    expect(takenBy).not.toBe(pid)
    await until(accepted)
    pair.signal('SIGINT')
    expect(await pair.ended()).toBe(0)
  }, 120_000)

test('bun run dev:ha says which Litestream it needs and how to get it', async () => {
  const { code, stderr } = await finished(COMMAND, { TEST_LITESTREAM: '0.3' })
  expect({ code, stderr }).toEqual({ code: 69, stderr: expect.stringContaining('Litestream 0.5.18: install Go') })
})
