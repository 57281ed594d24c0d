import type { Log } from '../../core/log.ts'
import { maskNumber } from '../../core/phone.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { GatewayEvent } from '../../messages/realtime/event.ts'

/** Logs each message that is accepted, sent, failed, delivered or received, so that a developer sees in the terminal what happens. */
export function logMessages({ config, hub, log }: Pick<Gateway, 'config' | 'hub' | 'log'>): void {
  // A subscriber costs a tenth of each message's processor time, even for lines that LOG_LEVEL hides.
  if (LEVELS_WITH_INFO.includes(config.logLevel)) hub.subscribe((event) => logEvent(log, event))
}

const LEVELS_WITH_INFO = ['trace', 'debug', 'info']

function logEvent(log: Log, event: GatewayEvent): void {
  if (event.type === 'sms_inbound') {
    const { messageId, from, to } = event
    log.info({ messageId, from: maskNumber(from), to: maskNumber(to) }, 'message received')
  } else if (event.type === 'sms_delivery') {
    const { messageId, deliveryStatus, reason } = event
    log.info({ messageId, reason }, `message ${deliveryStatus}`)
  } else if (event.type === 'sms_status' && event.status !== 'sending') {
    const { messageId, appId, rcMessageId, error, status } = event
    const fields = { messageId, appId, rcMessageId, error: error?.replaceAll(/\+\d{9,15}/g, maskNumber) }
    log.info(fields, `message ${status === 'queued' ? 'accepted' : status}`)
  }
}
