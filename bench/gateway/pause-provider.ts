import { eventually } from '../torture/program.ts'
import type { BenchGateway } from './bench-gateway.ts'
import { EXTENSIONS } from './numbers.ts'

const WITHIN_MS = 10_000

/**
 * Makes the provider answer 429 for an hour and sends a message from each of the 100 extensions. Resolves when all
 * extensions are paused, so that all further messages stay queued.
 */
export async function pauseProvider(gateway: BenchGateway, send: (count: number) => Promise<void>): Promise<void> {
  const fault = { kind: 'respond', status: 429, headers: { 'retry-after': '3600' } } as const
  await gateway.simulator.control.fault({ route: 'sms', calls: null, fault })
  await send(EXTENSIONS)
  await eventually('The pause of the extensions', WITHIN_MS, async () => {
    const { total } = await gateway.call<{ total: number }>('GET', '/v1/sms/messages?status=sending&limit=1')
    return total === EXTENSIONS ? true : null
  })
}
