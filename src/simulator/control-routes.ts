import type { SimulatorControl } from './control.ts'
import { header, json, mediaType, type Call, type Reply } from './http.ts'

/**
 * The control knobs over HTTP: `POST /control/<name>` with the knob's argument as JSON body, or, for knobs that only
 * read, `GET` with it in the query. 200 with the result (`null` for none), 400 `{error}` when the knob refuses, 404 for
 * an unknown name. `GET /control` lists the names. No authentication, since the simulator holds nothing real; but web
 * pages that a developer visits must not turn the knobs, so that they can be reached from this machine alone.
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
  'messages',
  'requests',
  'counters',
  'settled',
])

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

/**
 * Refuses requests of web pages. A page can use a name that resolves to 127.0.0.1 (which Host reveals), its own origin (which Origin
 * reveals), or, without a preflight, the content types of forms.
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
  if (call.method !== 'GET') return call.body === '' ? undefined : JSON.parse(call.body)
  const entries = [...call.query].map(([name, value]) => [name, name === 'limit' ? Number(value) : value])
  return Object.fromEntries(entries)
}
