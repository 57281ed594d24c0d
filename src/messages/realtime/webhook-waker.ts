import type { Gate } from '../../db/gate.ts'
import { bitOf } from '../../db/webhook-events.ts'
import type { GatewayEvent } from './event.ts'
import type { Hub } from './hub.ts'

interface Parts {
  gate: Gate
  hub: Hub
  /** Called when an app has a new `webhook` job. */
  wake(appId: string, tenantId: string): void
}

/** Apps that want more than inbound messages. */
const ASKED = `SELECT id, tenant_id FROM apps WHERE webhook_events > ${bitOf('sms_inbound')}`

/**
 * Wakes the lanes with `webhook` jobs of events other than `sms_inbound`. SQL triggers create these jobs in the commits of the events. Without
 * the wake they would wait for the next search for lanes. While no app wants such events, it does not listen to the hub, so no event is read
 * for it.
 */
export class WebhookWaker {
  /** App that has asked for such events → its tenant. */
  #apps = new Map<string, string>()
  #endListening: (() => void) | null = null

  constructor(readonly parts: Parts) {}

  /** Reads which apps want such events. Call it at the start, and after each committed change. */
  async refresh(): Promise<void> {
    const { rows } = await this.parts.gate.execute(ASKED)
    this.#apps = new Map(rows.map((row) => [String(row['id']), String(row['tenant_id'])]))
    if (this.#apps.size > 0) this.#endListening ??= this.parts.hub.subscribe((event) => this.#note(event))
    else this.stop()
  }

  stop(): void {
    this.#endListening?.()
    this.#endListening = null
  }

  #note(event: GatewayEvent): void {
    if (event.type === 'sms_inbound') return
    if (event.type === 'sms_status' && event.status !== 'sent' && event.status !== 'failed') return
    const { tenantId } = event
    // An event without `appId` is for all apps of the tenant.
    for (const appId of 'appId' in event ? [event.appId] : this.#apps.keys())
      if (this.#apps.get(appId) === tenantId) this.parts.wake(appId, tenantId)
  }
}
