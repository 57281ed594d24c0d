import { readFileSync } from 'node:fs'
import type { SimulatorControl } from '../../src/simulator/control.ts'
import { type TortureProgram, eventually, startTortureProgram } from './program.ts'

/** The control knobs of a simulator in another process. The names are the same, and every result is a promise. */
export type RemoteControl = {
  [Name in keyof SimulatorControl]: (
    ...argument: Parameters<SimulatorControl[Name]>
  ) => Promise<Awaited<ReturnType<SimulatorControl[Name]>>>
}

export interface SimulatorProcess {
  url: string
  control: RemoteControl
  program: TortureProgram
}

export const CLIENT = { id: 'torture', secret: 'the secret of torture' }

/** Starts the simulator in a process of its own, without extensions and rate limits. */
export async function startSimulatorProcess(log: string): Promise<SimulatorProcess> {
  const client = ['--client-id', CLIENT.id, '--client-secret', CLIENT.secret]
  const args = ['src/simulator/main.ts', '--port', '0', '--empty', '--no-limits', ...client]
  const program = startTortureProgram({ args, env: {}, log })
  const address = (): string | null => /listens on (\S+)/.exec(readFileSync(log, 'utf8'))?.[1] ?? null
  const url = await eventually('The start of the simulator', 10_000, address)
  const control = remoteControl(url)
  // As with most carriers, so that runs can be compared with earlier ones.
  await control.configure({ deliveredAfterMs: null })
  return { url, control, program }
}

function remoteControl(url: string): RemoteControl {
  const call = async (name: string, argument: unknown): Promise<unknown> => {
    const body = argument === undefined ? '' : JSON.stringify(argument)
    const response = await fetch(`${url}/control/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`The simulator refused ${name}: ${JSON.stringify(answer)}`)
    return answer
  }
  return new Proxy({} as RemoteControl, { get: (_, name) => (argument: unknown) => call(String(name), argument) })
}
