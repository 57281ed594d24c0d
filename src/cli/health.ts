import { z } from 'zod'
import { localUrl } from '../core/network-config.ts'
import { type CliContext, CliError, requireSettings } from './context.ts'
import { print } from './print.ts'

const TIMEOUT_MS = 3000

/** Calls `/health` of the listener on this machine, for a container's health check. */
export async function checkHealth(context: CliContext): Promise<void> {
  requireSettings(context, ['HOST', 'PORT'])
  const url = `${localUrl(context.config)}/health`
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
