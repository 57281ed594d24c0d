import type { SimulatorControl } from './control.ts'
import { header, json, mediaType, type Call, type Reply } from './http.ts'

/**
 * The control knobs over HTTP: `POST /control/<name>` with the knob's argument as JSON body; without a body it is empty. Knobs that only read also
 * accept `GET` with the argument in the query. The status is 200 with the result (`null` for none), 400 with `{error}` if
 * the knob refuses, or 404 for an unknown name. `GET /control` lists the names. There is no authentication, because the
 * simulator holds no real data. Web pages that a developer visits must not use the knobs, so control answers calls from
 * this machine only.
 */
export async function controlOverHttp(control: SimulatorControl, call: Call): Promise<Reply> {
  const refusal = refuseWebPages(call)
  if (refusal !== null) return refusal
  const name = call.path.slice('/control/'.length)
  if (name === '') return json(200, { knobs: Object.keys(control) })
  if (!isKnob(control, name)) return json(404, { error: `Unknown knob ${name}: GET /control lists them` })
  if (call.method === 'GET' && !READING_KNOBS.has(name)) return json(405, { error: `${name} changes things: use POST` })
  try {
    // Each knob checks its argument. Only callers in the process know its type.
    const knob = control[name] as (argument: unknown) => unknown
    return json(200, (await knob(argumentOf(call))) ?? null)
  } catch (error) {
    return json(400, { error: error instanceof Error ? error.message : String(error) })
  }
}

const READING_KNOBS: ReadonlySet<string> = new Set<keyof SimulatorControl>([
  'extensions',
  'sessions',
  'subscriptions',
  'sockets',
  'messages',
  'requests',
  'calls',
  'nextFault',
  'counters',
  'settled',
])

/** Members of an argument that are numbers. In a query everything is text. */
const NUMBERS = ['limit', 'since']

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

/**
 * Refuses requests of web pages. `Host` reveals a page whose name resolves to 127.0.0.1, and `Origin` reveals a page of
 * another origin. Without a preflight, a page can send only the content types of forms.
 */
function refuseWebPages(call: Call): Reply | null {
  const host = header(call, 'host')
  if (!LOOPBACK_HOST.test(host))
    return json(403, { error: 'Control is for this machine: call it as 127.0.0.1 or localhost' })
  const origin = header(call, 'origin')
  if (origin !== '' && origin !== `http://${host}`)
    return json(403, { error: 'Control is not for pages of another origin' })
  if (call.method === 'GET' || mediaType(call) === 'application/json') return null
  return json(415, { error: 'Send application/json' })
}

const isKnob = (control: SimulatorControl, name: string): name is keyof SimulatorControl => Object.hasOwn(control, name)

function argumentOf(call: Call): unknown {
  if (call.method !== 'GET') return call.body === '' ? {} : JSON.parse(call.body)
  const entries = [...call.query].map(([name, value]) => [name, NUMBERS.includes(name) ? Number(value) : value])
  return Object.fromEntries(entries)
}
