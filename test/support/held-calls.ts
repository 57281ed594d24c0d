import type { World } from './world.ts'

type Call = 'sendSms' | 'refresh' | 'listNumbers' | 'createSubscription' | 'readCampaign'

/**
 * Makes all further calls of this method hang, or only those whose parameters contain `text`. Returns a function that
 * releases them.
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
