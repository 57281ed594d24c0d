import { readTroubledExtensions } from '../../messages/gateway-state/extensions.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { Condition, ConditionSource, Round } from './condition.ts'
import { CONDITIONS } from './table.ts'

/** What a source found, or the error that kept it from finding out. */
export interface Judgement {
  source: ConditionSource
  found: readonly Condition[] | null
  error: unknown
}

/** Finds everything that is wrong now, one source after the other. */
export async function judge(gateway: Gateway): Promise<Judgement[]> {
  let troubled: ReturnType<Round['troubled']> | null = null
  const round: Round = { troubled: () => (troubled ??= readTroubledExtensions(gateway)) }
  const judgements: Judgement[] = []
  for (const source of CONDITIONS) judgements.push(await judgementOf(source, gateway, round))
  return judgements
}

async function judgementOf(source: ConditionSource, gateway: Gateway, round: Round): Promise<Judgement> {
  try {
    return { source, found: await source.find(gateway, round), error: null }
  } catch (error) {
    return { source, found: null, error }
  }
}
