import type { SimulatorControl } from './control.ts'
import { json, type Call, type Reply } from './http.ts'

/**
 * The control knobs over HTTP: `POST /control/<name>` with the knob's argument as JSON body, or `GET` with it in the
 * query. 200 with the result (`null` for none), 400 `{error}` when the knob refuses, 404 for an unknown name.
 * `GET /control` lists the names. No authentication: the simulator holds nothing real.
 */
export async function controlOverHttp(control: SimulatorControl, call: Call): Promise<Reply> {
  const name = call.path.slice('/control/'.length)
  if (name === '') return json(200, { knobs: Object.keys(control) })
  if (!isKnob(control, name)) return json(404, { error: `Unknown knob ${name}: GET /control lists them` })
  try {
    // Each knob checks what it is given; its parameter type is only known to callers in process.
    const knob = control[name] as (argument: unknown) => unknown
    return json(200, (await knob(argumentOf(call))) ?? null)
  } catch (error) {
    return json(400, { error: error instanceof Error ? error.message : String(error) })
  }
}

const isKnob = (control: SimulatorControl, name: string): name is keyof SimulatorControl => Object.hasOwn(control, name)

function argumentOf(call: Call): unknown {
  if (call.method !== 'GET') return call.body === '' ? undefined : JSON.parse(call.body)
  const entries = [...call.query].map(([name, value]) => [name, name === 'limit' ? Number(value) : value])
  return Object.fromEntries(entries)
}
