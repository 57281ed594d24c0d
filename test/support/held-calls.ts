import type { World } from './world.ts'

type Call = 'sendSms' | 'refresh' | 'listSmsNumbers' | 'createSubscription'

/**
 * Calls of this name hang from now on, or those with such a text; the function that it answers lets them go on. No clock
 * decides how long that is.
 */
export function holdCalls({ gateway }: World, name: Call, text?: string): () => void {
  const provider = gateway.provider as unknown as Record<Call, (...parameters: unknown[]) => Promise<unknown>>
  const call = provider[name]
  const held = Promise.withResolvers<void>()
  provider[name] = async (...parameters) => {
    if (text === undefined || JSON.stringify(parameters).includes(text)) await held.promise
    return call(...parameters)
  }
  return () => {
    provider[name] = call
    held.resolve()
  }
}
