import type { BenchGateway } from './bench-gateway.ts'

/** Signs an operator in with a link of `sgw console`. Returns the token. */
export async function signInTo(gateway: BenchGateway): Promise<string> {
  const { url } = await gateway.command<{ url: string }>('console')
  const body = JSON.stringify({ login: url.split('#login=')[1] ?? '' })
  const answer = await fetch(`${gateway.server.url}/v1/operator/session`, { method: 'POST', body })
  if (!answer.ok) throw new Error(`Signing in answered ${answer.status}: ${await answer.text()}`)
  const { token } = (await answer.json()) as { token: string }
  return token
}
