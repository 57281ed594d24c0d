import { systemClock } from '../../src/core/clock.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { sgw, startServer } from '../support/process.ts'
import { FROM, TO } from '../support/world.ts'

const PROVIDER = { RC_CLIENT_ID: 'client', RC_CLIENT_SECRET: 'client-key', LOG_LEVEL: 'error' }

/**
 * Starts a connected server with a key and a simulated provider. `between` starts something between the two, and returns its address.
 */
export async function connectedServer(database: string, between = (simulatorUrl: string): string => simulatorUrl) {
  const simulator = await startSimulator({
    clock: systemClock,
    clientId: 'client',
    clientSecret: 'client-key',
    limits: false,
  })
  simulator.control.addExtension({ name: 'Alice', numbers: [FROM] })
  const env = { ...PROVIDER, DATABASE_URL: database, RC_SERVER_URL: between(simulator.url) }
  const server = await startServer(env)
  const run = async (...words: string[]): Promise<Record<string, string>> =>
    JSON.parse((await sgw(['--json', ...words], env)).stdout) as Record<string, string>
  const { tenantId = '' } = await run('tenant', 'create', '--name', 'First')
  const { apiKey = '' } = await run('app', 'create', '--tenant', tenantId, '--name', 'First app')
  const call = (path: string, body?: object): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const { connectUrl } = (await (await call('/v1/rc/connect-token', {})).json()) as { connectUrl: string }
  const form = new URLSearchParams({ token: new URL(connectUrl, server.url).searchParams.get('token') ?? '' })
  const toLogin = await fetch(`${server.url}/v1/rc/connect`, { method: 'POST', body: form, redirect: 'manual' })
  const login = await fetch(toLogin.headers.get('location') ?? '', { redirect: 'manual' })
  const connected = await fetch(login.headers.get('location') ?? '')
  if (!connected.ok) throw new Error(`connect answered ${connected.status}`)
  const send = async (text: string, to = TO): Promise<string> =>
    ((await (await call('/v1/sms/send', { from: FROM, to, body: text })).json()) as { messageId: string }).messageId
  return { simulator, server, env, send, call, run }
}
