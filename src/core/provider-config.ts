import { bareJwt } from './jwt.ts'
import { withoutCredentials } from './network-config.ts'
import { type ProxySettings, isLoopbackHost, namesProxy, readProxy } from './proxy.ts'
import type { Settings } from './settings.ts'

export interface ProviderConfig {
  serverUrl: string
  clientId: string
  clientSecret: string
  /** A user's credential, which connects its extension at the start; null if none is set. */
  jwt: string | null
  /** The variable that sets it, or should; messages name this one. */
  jwtVariable: 'RC_JWT' | 'RC_JWT_FILE'
  /** How inbound messages arrive: the provider posts them to `PUBLIC_URL`, or the gateway opens a WebSocket for each extension. */
  events: 'webhook' | 'websocket'
  /** True when the built-in simulator serves instead of the provider. */
  simulated: boolean
  /** The environment names a proxy for the provider's address. */
  throughProxy: boolean
  /** The proxy of its sockets, with its credentials; null if there is none. */
  proxy: ProxySettings | null
}

const SIMULATOR_CLIENT = { id: 'sgw-simulator', secret: 'sgw-simulator-secret' } as const

export function readProvider(settings: Settings, production: boolean): ProviderConfig {
  const serverUrl = (settings.text('RC_SERVER_URL') ?? 'https://platform.ringcentral.com').replace(/\/+$/, '')
  if (!isProviderAddress(serverUrl))
    settings.problem(
      'RC_SERVER_URL',
      `is "${withoutCredentials(serverUrl)}"`,
      'give an https:// address without credentials and query (http:// only to a loopback host)',
    )
  const clientId = settings.secret('RC_CLIENT_ID')
  const clientSecret = settings.secret('RC_CLIENT_SECRET')
  const copied = settings.secret('RC_JWT')
  const jwt = copied === null ? null : bareJwt(copied)
  const jwtVariable = settings.text('RC_JWT_FILE') === null ? 'RC_JWT' : 'RC_JWT_FILE'
  if (clientId === null && clientSecret === null && jwt === null && !production) {
    const { id, secret } = SIMULATOR_CLIENT
    const events = readEvents(settings, 'webhook')
    const client = { clientId: id, clientSecret: secret }
    return { serverUrl, ...client, jwt, jwtVariable, events, simulated: true, throughProxy: false, proxy: null }
  }
  const fix = 'copy it from your app in the RingCentral developer console'
  if (clientId === null) settings.missing('RC_CLIENT_ID', fix)
  if (clientSecret === null) settings.missing('RC_CLIENT_SECRET', fix)
  return {
    serverUrl,
    clientId: clientId ?? '',
    clientSecret: clientSecret ?? '',
    jwt,
    jwtVariable,
    events: readEvents(settings, isReachable(settings, serverUrl, { production, jwt }) ? 'webhook' : 'websocket'),
    simulated: false,
    throughProxy: namesProxy(settings, serverUrl),
    proxy: readProxy(settings, serverUrl),
  }
}

const readEvents = (settings: Settings, fallback: ProviderConfig['events']): ProviderConfig['events'] =>
  settings.oneOf('RC_EVENTS', ['webhook', 'websocket'], fallback)

/** Whether the provider can post to this gateway: at its public address, or from a simulator on this machine. */
function isReachable(
  settings: Settings,
  serverUrl: string,
  { production, jwt }: { production: boolean; jwt: string | null },
): boolean {
  if (settings.text('PUBLIC_URL') !== null) return true
  return !production && jwt === null && isLoopbackHost(URL.parse(serverUrl)?.hostname ?? '')
}

function isProviderAddress(text: string): boolean {
  const url = /^https?:\/\/[^\s\\/?#@]+(\/[^\s\\?#]*)?$/i.test(text) ? URL.parse(text) : null
  return url !== null && (url.protocol === 'https:' || isLoopbackHost(url.hostname))
}
