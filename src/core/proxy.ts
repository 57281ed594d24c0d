import type { Settings } from './settings.ts'

/** Whether the host name of a `URL`, which writes every IPv4 address as four parts, is this machine. False for 127.0.0.1.example.com. */
export const isLoopbackHost = (hostname: string): boolean => /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(hostname)

/** Whether calls to this address of the provider go through a proxy. Bun's `fetch` reads the same variables. */
export function namesProxy(settings: Settings, serverUrl: string): boolean {
  if (isLoopbackHost(URL.parse(serverUrl)?.hostname ?? '')) return false
  return (settings.text('https_proxy') ?? settings.text('HTTPS_PROXY')) !== null
}

/** A proxy, and the hosts that bypass it. */
export interface ProxySettings {
  url: string
  exempt: readonly string[]
}

/** The proxy for sockets to a provider at this address, as `fetch` uses it for calls; null if there is none. */
export function readProxy(settings: Settings, serverUrl: string): ProxySettings | null {
  if (!namesProxy(settings, serverUrl)) return null
  const url = settings.text('https_proxy') ?? settings.text('HTTPS_PROXY') ?? ''
  const exempt = settings.text('no_proxy') ?? settings.text('NO_PROXY') ?? ''
  return {
    url: url.includes('://') ? url : `http://${url}`,
    exempt: exempt.split(/[\s,]+/).filter((name) => name !== ''),
  }
}

/** The address of the proxy for a connection to this host; null if it bypasses the proxy. */
export function proxyFor(proxy: ProxySettings | null, { hostname, host }: URL): string | null {
  const isExempt = proxy?.exempt.some((entry) => {
    const name = entry.toLowerCase().replace(/^\*?\./, '')
    return name === '*' || name === hostname || name === host || hostname.endsWith(`.${name}`)
  })
  return proxy === null || isExempt === true || isLoopbackHost(hostname) ? null : proxy.url
}

/** The option with which `fetch` uses no proxy for this machine's addresses: threads do not see what `exemptThisMachine` has set. */
export const directIfLocal = (url: string): { proxy?: false } =>
  isLoopbackHost(URL.parse(url)?.hostname ?? '') ? { proxy: false } : {}

const THIS_MACHINE = 'localhost,127.0.0.0/8,::1'

/**
 * Keeps requests to this machine away from the proxies that the environment names, regardless of NO_PROXY. Bun reads the variable at each
 * request, even for its S3 client, which has no option for it; `no_proxy` takes precedence over `NO_PROXY`.
 */
export function exemptThisMachine(environment: Record<string, string | undefined>): void {
  const name = (environment['no_proxy'] ?? '') === '' ? 'NO_PROXY' : 'no_proxy'
  const named = environment[name] ?? ''
  environment[name] = named === '' ? THIS_MACHINE : `${named},${THIS_MACHINE}`
}
