import { runLoad } from '../support/load.ts'
import { eventually } from '../torture/program.ts'
import type { Running } from './contestant.ts'
import type { ProviderHandle } from './provider-process.ts'

const DRAIN_MS = 120_000

/** Sends messages on `connections` connections. Throws if one is not accepted. */
export async function load(
  { port, request }: Pick<Running, 'port' | 'request'>,
  connections: number,
  durationMs: number,
): Promise<{ accepted: number; requestsPerSecond: number }> {
  let accepted = 0
  const counted = (): string => {
    accepted++
    return request()
  }
  const target = { hostname: '127.0.0.1', port, connections }
  const { requestsPerSecond, statuses } = await runLoad({ ...target, durationMs, request: counted })
  const refused = Object.keys(statuses).filter((status) => status !== '202')
  if (refused.length > 0) throw new Error(`Answers other than 202: ${JSON.stringify(statuses)}`)
  return { accepted, requestsPerSecond }
}

/** Queries the contestant only after the provider has received everything, because a query costs the contestant time. */
export async function allSent(running: Running, provider: ProviderHandle, count: number): Promise<void> {
  const called = async (): Promise<true | null> => ((await provider.calls()) >= count ? true : null)
  await eventually('The calls of the provider', DRAIN_MS, called)
  const stored = async (): Promise<true | null> => ((await running.stored()) >= count ? true : null)
  await eventually('The last results', DRAIN_MS, stored)
}
