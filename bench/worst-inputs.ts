import type { Bench, Row } from './bench.ts'
import { signInTo } from './gateway/sign-in.ts'
import { ownNumber } from './gateway/numbers.ts'
import { OURS } from './gateway/source.ts'
import { openEventGateway } from './support/provider-events.ts'
import { endpointInputs } from './worst-inputs/endpoints.ts'
import { fillWithLongTexts } from './worst-inputs/fill.ts'
import type { Input } from './worst-inputs/input.ts'
import { type Cost, Probe } from './worst-inputs/probe.ts'
import {
  callbackInputs,
  eventInputs,
  formInputs,
  listInputs,
  notifyInputs,
  strayInputs,
} from './worst-inputs/special.ts'

const SHOWN = 10
const HOLDS = '≤ 5 ms'

/**
 * The requests that cost the event loop most: every endpoint with every kind of input within the limits, also long lists of the longest texts.
 * The processor time of its thread, the commit included; other programs on the machine hardly change it.
 */
export const worstInputs: Bench = {
  name: 'worst inputs',
  async run({ short }): Promise<Row[]> {
    const { gateway, events } = await openEventGateway(OURS, { TRUSTED_PROXIES: '127.0.0.1' })
    await using _gateway = gateway
    const { key, appId } = gateway
    const cursor = await fillWithLongTexts(gateway)
    const ids = { appId, messageId: 'msg_000000000000' }
    const kinds = [
      listInputs(key, cursor),
      notifyInputs(key, `from=${encodeURIComponent(ownNumber(0, 0))}&to=%2B15555550199`),
      formInputs(),
      eventInputs(events),
      callbackInputs(),
      strayInputs(),
      endpointInputs({ key, operatorToken: await signInTo(gateway), ids }),
    ]
    const inputs = kinds.flat().filter((_, at) => !short || at % 4 === 0)
    process.stdout.write(`${inputs.length} requests\n`)
    const costs = await costsOf(inputs, new Probe(gateway.port, gateway.pid))
    return costs.slice(0, SHOWN).map(rowOf)
  },
}

/** Most expensive first. */
async function costsOf(inputs: readonly Input[], probe: Probe): Promise<Cost[]> {
  const costs: Cost[] = []
  for (const input of inputs) costs.push(await probe.cost(input))
  return costs.toSorted((a, b) => b.lowestMs - a.lowestMs)
}

const rowOf = ({ input, firstMs, lowestMs }: Cost): Row => ({
  request: input.name,
  'processor ms': lowestMs.toFixed(2),
  'the first time': firstMs.toFixed(2),
  holds: HOLDS,
})
