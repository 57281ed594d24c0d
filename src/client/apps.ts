import { segment } from './requester.ts'
import { Resource } from './resource.ts'
import type {
  App,
  AppChanges,
  NewApp,
  RegisteredApp,
  RetryPolicy,
  RotatedKey,
  RotatedSecret,
  TestResult,
  WebhookEventType,
} from './resource-types.ts'

const pathOf = (appId: string): string => `/v1/apps/${segment(appId)}`

/** The apps of the tenant. All methods but `list` and `register` are for your own app: its id is in `me()`. */
export class Apps extends Resource {
  /** The tenant's apps, oldest first; inactive ones are included. */
  list(): Promise<App[]> {
    return this.member('apps', '/v1/apps')
  }

  /** Registers an app of your tenant. Its key and webhook secret are shown this once. */
  register(app: NewApp): Promise<RegisteredApp> {
    return this.call('POST', '/v1/apps/register', app)
  }

  /** Sets or removes the webhook address, or deactivates the app. */
  async update(appId: string, changes: AppChanges): Promise<void> {
    await this.call('PUT', pathOf(appId), changes)
  }

  /** Deactivates the app: its key stops working at once. */
  async deactivate(appId: string): Promise<void> {
    await this.call('DELETE', pathOf(appId))
  }

  /** A new key: the old one stops working at once. */
  rotateKey(appId: string): Promise<RotatedKey> {
    return this.call('POST', `${pathOf(appId)}/rotate-key`)
  }

  /** A new webhook secret: the old one no longer signs. */
  rotateWebhookSecret(appId: string): Promise<RotatedSecret> {
    return this.call('POST', `${pathOf(appId)}/rotate-webhook-secret`)
  }

  /** Posts a signed test payload to the app's webhook address. */
  testWebhook(appId: string): Promise<TestResult> {
    return this.call('POST', `${pathOf(appId)}/test-webhook`)
  }

  /** How failed webhook deliveries to the app are tried again. */
  retries(appId: string): Promise<RetryPolicy> {
    return this.member('policy', `${pathOf(appId)}/webhook-retries`)
  }

  /** Sets how failed webhook deliveries to the app are tried again. */
  async setRetries(appId: string, policy: RetryPolicy): Promise<void> {
    await this.call('PUT', `${pathOf(appId)}/webhook-retries`, { policy })
  }

  /** Which events the app's webhook address gets. */
  events(appId: string): Promise<WebhookEventType[]> {
    return this.member('events', `${pathOf(appId)}/webhook-events`)
  }

  /** Sets which events the app's webhook address gets. */
  async setEvents(appId: string, events: readonly WebhookEventType[]): Promise<void> {
    await this.call('PUT', `${pathOf(appId)}/webhook-events`, { events })
  }
}
