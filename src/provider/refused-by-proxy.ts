/** Whether the proxy in HTTPS_PROXY opened no tunnel to the provider: it refused CONNECT, or wants a password. */
export const isRefusedByProxy = (code: string | null): boolean => code === 'ERR_PROXY_TUNNEL'

/** What to do about it, as the end of a sentence. */
export const PROXY_FIX = 'the proxy that HTTPS_PROXY names refuses the connection: allow RC_SERVER_URL in its settings'

/** The same for any failed connection. `others`: what to check besides the proxy. */
export function connectionFix(code: string | null, throughProxy: boolean, others: string): string {
  if (isRefusedByProxy(code)) return PROXY_FIX
  return `check ${throughProxy ? 'the proxy that HTTPS_PROXY names, ' : ''}${others}`
}
