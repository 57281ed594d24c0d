import { alternate } from '../support/alternate.ts'
import { type Child, startChild } from '../support/child.ts'
import { type EventIds, openEventStage } from '../support/provider-events.ts'
import type { Stage } from '../torture/stage.ts'

/** A server that takes provider events: the gateway, or the floor. */
export interface Contestant {
  port: number
  /** What its WebSockets authenticate with. */
  key: string
  /** Settles when it has nothing left to do. */
  rest(): Promise<unknown>
}

export interface InboundStage {
  stage: Stage
  tenantId: string
  ids: EventIds
}

export async function openInboundStage(ids: EventIds, stack: AsyncDisposableStack): Promise<InboundStage> {
  const stage = stack.use(await openEventStage())
  const [tenant] = await stage.gateway.command<{ tenantId: string }[]>('tenant-list')
  return { stage, tenantId: tenant?.tenantId ?? '', ids }
}

export const gatewayOf = ({ stage }: InboundStage): Contestant => ({
  port: stage.gateway.options.port,
  key: stage.key,
  rest: () => stage.drained(),
})

export const floorOf = (child: Child): Contestant => ({
  port: Number(child.ready),
  key: 'none',
  rest: () => Promise.resolve(),
})

/** Measures both in turn, on fresh floors that POST to `destinations` as the tenant's triggers do. */
export async function faceToFace(
  inbound: InboundStage,
  rounds: number,
  destinations: readonly string[],
  measure: (contestant: Contestant, name: 'floor' | 'sgw') => Promise<number>,
): Promise<{ floor: number; sgw: number }> {
  using child = await startChild('event-floor.ts', destinations)
  const contestants = { floor: floorOf(child), sgw: gatewayOf(inbound) }
  await using _triggers = await openTriggers(inbound, destinations)
  const turn = (name: 'floor' | 'sgw') => async (): Promise<number> => {
    const figure = await measure(contestants[name], name)
    await contestants[name].rest()
    return figure
  }
  // Not counted: code that has never run is slower.
  await turn('floor')()
  await turn('sgw')()
  return await alternate(rounds, { floor: turn('floor'), sgw: turn('sgw') })
}

async function openTriggers({ stage, tenantId }: InboundStage, urls: readonly string[]): Promise<AsyncDisposable> {
  const triggers = await Promise.all(
    urls.map((callbackUrl) =>
      stage.gateway.command<{ triggerId: string }>('trigger-create', { tenantId, callbackUrl }),
    ),
  )
  return {
    async [Symbol.asyncDispose]() {
      for (const { triggerId } of triggers) await stage.gateway.command('trigger-delete', { tenantId, triggerId })
    },
  }
}
