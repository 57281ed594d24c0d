import { BenchGateway } from '../gateway/bench-gateway.ts'
import { ownNumber } from '../gateway/numbers.ts'
import type { Source } from '../gateway/source.ts'
import { eventually } from '../torture/program.ts'

const FIRST_ID = 3_062_991_000_000
const SUBSCRIBED_WITHIN_MS = 10_000

/** The provider's subscription that a measured server knows. */
export interface Subscription {
  subscriptionId: string
  extensionId: string
  verificationToken: string
}

/** A gateway with one extension, and its provider's events. */
export async function openEventGateway(
  source: Source,
  env: Record<string, string> = {},
): Promise<{ gateway: BenchGateway; events: ProviderEvents }> {
  const gateway = await BenchGateway.open({ source, env })
  try {
    const events = new ProviderEvents(await eventually('The subscription', SUBSCRIBED_WITHIN_MS, () => found(gateway)))
    return { gateway, events }
  } catch (error) {
    await gateway[Symbol.asyncDispose]()
    throw error
  }
}

async function found(gateway: BenchGateway): Promise<Subscription | null> {
  const [subscription] = await gateway.simulator.control.subscriptions()
  if (subscription === undefined) return null
  return { ...subscription, verificationToken: subscription.verificationToken ?? '' }
}

/** Creates events for a server that checks no token. */
export const floorEvents = (): ProviderEvents =>
  new ProviderEvents({ subscriptionId: 'bench', extensionId: '629890016', verificationToken: 'none' })

/** Creates events that the server has not seen yet. */
export class ProviderEvents {
  #next = FIRST_ID

  constructor(readonly subscription: Subscription) {}

  take(count: number): number[] {
    this.#next += count
    return Array.from({ length: count }, (_, index) => this.#next - count + index)
  }

  /** Returns the complete HTTP request of an event, as the platform POSTs it. */
  request(id: number, path = '/v1/webhooks/provider'): string {
    const body = eventBody(id, this.subscription)
    return [
      `POST ${path} HTTP/1.1`,
      'Host: gateway',
      `Verification-Token: ${this.subscription.verificationToken}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `\r\n${body}`,
    ].join('\r\n')
  }

  requests(count: number, path?: string): string[] {
    return this.take(count).map((id) => this.request(id, path))
  }
}

const eventBody = (id: number, { subscriptionId, extensionId }: Subscription): string =>
  JSON.stringify({
    uuid: String(id),
    event: `/restapi/v1.0/account/809640016/extension/${extensionId}/message-store/instant?type=SMS`,
    timestamp: '2026-11-21T02:31:45.034Z',
    subscriptionId,
    ownerId: extensionId,
    body: {
      id: String(id),
      to: [{ phoneNumber: ownNumber(0, 0), name: 'Alice', target: true }],
      from: {
        phoneNumber: '+15565550123',
        phoneNumberInfo: { countryCode: '1', nationalDestinationCode: '556', subscriberNumber: '5550123' },
      },
      type: 'SMS',
      creationTime: '2026-11-21T02:31:45.028Z',
      direction: 'Inbound',
      subject: `Message ${id}, of an ordinary length, as people send them every day.`,
      messageStatus: 'Received',
      eventType: 'Create',
    },
  })
