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

/** `nodeFloor` POSTs with Node's HTTP client, as the gateway does; `floor` with what is cheapest. */
export type Side = 'floor' | 'sgw' | 'nodeFloor'
export type Measure = (contestant: Contestant, side: Side) => Promise<number>

/** Measures the sides in turn, on fresh floors that POST to `destinations` as the tenant's triggers do. */
export async function faceToFace(
  inbound: InboundStage,
  rounds: number,
  destinations: readonly string[],
  measure: Measure,
): Promise<Record<'floor' | 'sgw', number>> {
  using child = await startChild('event-floor.ts', ['fetch', ...destinations])
  await using _triggers = await openTriggers(inbound, destinations)
  return await inTurn(rounds, { floor: floorOf(child), sgw: gatewayOf(inbound) }, measure)
}

/** The same with the floor that uses the gateway's own HTTP client beside them. */
export async function faceToBothFloors(
  inbound: InboundStage,
  rounds: number,
  destinations: readonly string[],
  measure: Measure,
): Promise<Record<Side, number>> {
  using child = await startChild('event-floor.ts', ['fetch', ...destinations])
  using byNode = await startChild('event-floor.ts', ['node:http', ...destinations])
  await using _triggers = await openTriggers(inbound, destinations)
  const contestants = { floor: floorOf(child), sgw: gatewayOf(inbound), nodeFloor: floorOf(byNode) }
  return await inTurn(rounds, contestants, measure)
}

async function inTurn<Name extends Side>(
  rounds: number,
  contestants: Record<Name, Contestant>,
  measure: Measure,
): Promise<Record<Name, number>> {
  const turn = (name: Name) => async (): Promise<number> => {
    const figure = await measure(contestants[name], name)
    await contestants[name].rest()
    return figure
  }
  const names = Object.keys(contestants) as Name[]
  // Not counted: code that has never run is slower.
  for (const name of names) await turn(name)()
  const turns = Object.fromEntries(names.map((name) => [name, turn(name)])) as Record<Name, () => Promise<number>>
  return alternate(rounds, turns)
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
