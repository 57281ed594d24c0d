import { expect, test } from 'bun:test'
import { finished, freePort, LoggedProgram, PROJECT } from '../support/program.ts'
import { temporaryFolder } from '../support/process.ts'
import { until } from '../support/world.ts'

// The simulator as a program of its own. A start that fails says why in one line, not in a stack.

const run = (...words: string[]) => finished([process.execPath, 'src/simulator/main.ts', ...words], {})

test.each(['--port', '--socket-port'])(
  'the simulator names a port of %s that is taken, and what to do',
  async (option) => {
    using folder = temporaryFolder()
    const port = String(freePort())
    const words = option === '--port' ? [option, port] : ['--port', '0', option, port]
    const command = [process.execPath, 'src/simulator/main.ts', ...words]
    await using first = new LoggedProgram({ command, env: {}, cwd: PROJECT, log: folder.file('simulator.log') })
    await until(() => first.output().includes('listens on'), 20_000)
    expect(await run(...words)).toEqual({
      code: 69,
      stdout: '',
      stderr: `Port ${port} is in use: stop the other program, or choose another port with --port or --socket-port\n`,
    })
  },
)

test('the simulator delivers each message after three seconds, as the built-in one does', async () => {
  using folder = temporaryFolder()
  const command = [process.execPath, 'src/simulator/main.ts', '--port', '0']
  await using program = new LoggedProgram({ command, env: {}, cwd: PROJECT, log: folder.file('simulator.log') })
  const url = await until(() => /listens on (\S+)/.exec(program.output())?.[1], 20_000)
  const response = await fetch(`${url}/control/configure`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  expect(await response.json()).toMatchObject({ deliveredAfterMs: 3000 })
})

test.each([
  ['--port abc', '--port must be a number from 0 to 65535'],
  ['--port 65536', '--port must be a number from 0 to 65535'],
  ['--socket-port=-1', '--socket-port must be a number from 0 to 65535'],
  ['--prot 1', "Unknown option '--prot'"],
  ['--port 0 --empty --jwt-file x', '--jwt-file needs an extension: omit --empty'],
  [
    '--port 0 --seed-extension R:abc',
    'Cannot use numbers.0.phoneNumber: Write the number with + and its country code, such as +15555550100',
  ],
])('the simulator refuses %s in one line', async (line, stderr) => {
  expect(await run(...line.split(' '))).toEqual({ code: 1, stdout: '', stderr: `${stderr}\n` })
})
