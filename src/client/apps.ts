import { Destinations } from './destinations.ts'
import type {
  App,
  AppChanges,
  NewApp,
  RegisteredApp,
  RotatedKey,
  RotatedSecret,
  TestResult,
  WebhookEventType,
} from './resource-types.ts'

/** The apps of the tenant. All methods except `list` and `register` are for your own app: its id is in `me()`. */
export class Apps extends Destinations {
  protected readonly path = '/apps'

  /** The tenant's apps, oldest first; inactive ones are included. */
  list(): Promise<App[]> {
    return this.member('apps', this.path)
  }

  /** Registers an app of your tenant. Its key and webhook secret are shown only this once. */
  register(app: NewApp): Promise<RegisteredApp> {
    return this.call('POST', `${this.path}/register`, app)
  }

  /** Sets or removes the webhook address, or deactivates the app. */
  async update(appId: string, changes: AppChanges): Promise<void> {
    await this.call('PUT', this.pathOf(appId), changes)
  }

  /** Deactivates the app: its key stops working immediately. */
  async deactivate(appId: string): Promise<void> {
    await this.call('DELETE', this.pathOf(appId))
  }

  /** A new key: the old one stops working immediately. */
  rotateKey(appId: string): Promise<RotatedKey> {
    return this.call('POST', this.pathOf(appId, '/rotate-key'))
  }

  /** A new webhook secret: the old one no longer signs. */
  rotateWebhookSecret(appId: string): Promise<RotatedSecret> {
    return this.call('POST', this.pathOf(appId, '/rotate-webhook-secret'))
  }

  /** Posts a signed test payload to the app's webhook address. */
  testWebhook(appId: string): Promise<TestResult> {
    return this.call('POST', this.pathOf(appId, '/test-webhook'))
  }

  /** Which events are posted to the app's webhook address. */
  events(appId: string): Promise<WebhookEventType[]> {
    return this.member('events', this.pathOf(appId, '/webhook-events'))
  }

  /** Sets which events the app's webhook address gets. */
  async setEvents(appId: string, events: readonly WebhookEventType[]): Promise<void> {
    await this.call('PUT', this.pathOf(appId, '/webhook-events'), { events })
  }
}
