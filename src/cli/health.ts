import { z } from 'zod'
import { type CliContext, CliError } from './context.ts'
import { print } from './print.ts'

const TIMEOUT_MS = 3000

/** Calls `/health` of the listener on this machine, for a container's health check. */
export async function checkHealth(context: CliContext): Promise<void> {
  const { host, port } = context.config
  const local = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  const url = `http://${local.includes(':') ? `[${local}]` : local}:${port}/health`
  const response = await fetch(url, { proxy: false, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => {
    throw new CliError(`${url} does not answer: start the server (sgw start), or run this with its HOST and PORT`)
  })
  const health = z
    .object({ status: z.string() })
    .catch({ status: 'unknown' })
    .parse(await response.json().catch(() => null))
  print(context, health)
  if (!response.ok) throw new CliError('')
}
