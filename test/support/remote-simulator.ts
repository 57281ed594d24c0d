import { PROJECT, LoggedProgram } from './program.ts'
import { until } from './world.ts'

/** A simulator in a process of its own, which survives the gateway. */
export interface RemoteSimulator {
  url: string
  clientId: string
  clientSecret: string
  program: LoggedProgram
  /** Calls a knob of `SimulatorControl` by name. */
  control<T>(name: string, argument?: unknown): Promise<T>
}

const CLIENT = { clientId: 'night', clientSecret: 'the key of the night' }

/** Starts a simulator without extensions and rate limits. */
export async function startRemoteSimulator(log: string): Promise<RemoteSimulator> {
  const client = ['--client-id', CLIENT.clientId, '--client-secret', CLIENT.clientSecret]
  const command = [process.execPath, 'src/simulator/main.ts', '--port', '0', '--empty', '--no-limits', ...client]
  const program = new LoggedProgram({ command, env: {}, cwd: PROJECT, log })
  const url = await until(() => /listens on (\S+)/.exec(program.output())?.[1], 10_000)
  const control = async <T>(name: string, argument?: unknown): Promise<T> => {
    const response = await fetch(`${url}/control/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: argument === undefined ? '' : JSON.stringify(argument),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`The simulator refused ${name}: ${text}`)
    return (text === '' ? null : JSON.parse(text)) as T
  }
  // As with most carriers.
  await control('configure', { deliveredAfterMs: null })
  return { url, ...CLIENT, program, control }
}
