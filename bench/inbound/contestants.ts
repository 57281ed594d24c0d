import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Row } from '../row.ts'
import { alternate } from '../support/alternate.ts'
import { type Child, startChild } from '../support/child.ts'
import { type Comparison, compared, rounded } from '../support/compared.ts'
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

/** `durableFloor` commits with a flush by raw libSQL and POSTs with the gateway's HTTP client. */
export type Side = 'floor' | 'durableFloor' | 'sgw'
export type Measure = (contestant: Contestant, side: Side) => Promise<number>

/** Measures the sides in turn, on fresh floors that POST to `destinations` as the tenant's triggers do. */
export async function faceToFace(
  inbound: InboundStage,
  rounds: number,
  destinations: readonly string[],
  measure: Measure,
): Promise<Record<Side, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-floor-'))
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
  using floor = await startChild('event-floor.ts', ['fetch', '', ...destinations])
  using durable = await startChild('event-floor.ts', ['sgw', join(folder, 'floor.db'), ...destinations])
  await using _triggers = await openTriggers(inbound, destinations)
  const contestants = { floor: floorOf(floor), durableFloor: floorOf(durable), sgw: gatewayOf(inbound) }
  return await inTurn(rounds, contestants, measure)
}

/** Our figure beside both floors. */
export const besideFloors = (
  row: Pick<Comparison, 'case' | 'unit' | 'goal'>,
  { floor, durableFloor, sgw }: Record<Side, number>,
): Row => ({
  ...compared({ ...row, floor, sgw }),
  'floor, raw libSQL + our client': rounded(durableFloor),
  'ratio to it': Number((sgw / durableFloor).toFixed(2)),
})

async function inTurn(
  rounds: number,
  contestants: Record<Side, Contestant>,
  measure: Measure,
): Promise<Record<Side, number>> {
  const turn = (name: Side) => async (): Promise<number> => {
    const figure = await measure(contestants[name], name)
    await contestants[name].rest()
    return figure
  }
  const names = Object.keys(contestants) as Side[]
  // Not counted: code that has never run is slower.
  for (const name of names) await turn(name)()
  const turns = Object.fromEntries(names.map((name) => [name, turn(name)])) as Record<Side, () => Promise<number>>
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
