import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { FAILURE_CODES } from '../../core/message-failure.ts'
import { DELIVERY_CONCLUSIONS } from '../../db/schema/delivery-states.ts'
import type { Meter } from '../../core/meter.ts'
import type { GatewayEvent, LoggedRow } from '../../messages/realtime/event.ts'
import type { Hub } from '../../messages/realtime/hub.ts'
import { VERSION } from '../../core/version.ts'

/** The metrics for Prometheus. Names and labels are few and fixed, and never contain a tenant, a number or an address. */
export interface Metrics {
  registry: Registry
  meter: Meter
  /** Counts messages by the events of the hub. */
  follow(hub: Hub): void
  eventLoopLag(seconds: number): void
}

const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]
const LAG_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  new Gauge({
    name: 'sgw_build_info',
    help: 'Always 1; the version is a label',
    labelNames: ['version'],
    registers,
  }).set({ version: VERSION }, 1)
  const lag = new Histogram({
    name: 'sgw_event_loop_lag_seconds',
    help: 'How late a timer fires',
    buckets: LAG_SECONDS,
    registers,
  })
  return {
    registry,
    meter: createMeter(registers),
    follow: followerOf(registers),
    eventLoopLag: (seconds) => lag.observe(seconds),
  }
}

function createMeter(registers: Registry[]): Meter {
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Histogram({ name, help, labelNames, buckets: CALL_SECONDS, registers })
  const calls = counter('sgw_provider_calls_total', 'Calls of the provider, by outcome', ['operation', 'outcome'])
  const callSeconds = histogram('sgw_provider_call_seconds', 'How long calls of the provider take', ['operation'])
  const posts = counter('sgw_webhook_posts_total', 'Webhook POSTs, by outcome', ['outcome'])
  const postSeconds = histogram('sgw_webhook_post_seconds', 'How long webhook POSTs take', [])
  const polls = counter('sgw_delivery_polls_total', 'Listings of the message store for delivery states, by outcome', [
    'outcome',
  ])
  return {
    providerCall(operation, outcome, durationMs) {
      calls.inc({ operation, outcome })
      callSeconds.observe({ operation }, durationMs / 1000)
    },
    webhookPost(outcome, durationMs) {
      posts.inc({ outcome })
      postSeconds.observe(durationMs / 1000)
    },
    deliveryPoll: (outcome) => polls.inc({ outcome }),
  }
}

function followerOf(registers: Registry[]): (hub: Hub) => void {
  const counter = (name: string, help: string) => new Counter({ name, help, registers })
  const accepted = counter('sgw_messages_accepted_total', 'Outbound messages answered with 202')
  const sent = counter('sgw_messages_sent_total', 'Outbound messages that the provider accepted')
  const received = counter('sgw_messages_received_total', 'Inbound messages stored')
  const failed = new Counter({
    name: 'sgw_messages_failed_total',
    help: 'Outbound messages that failed, by reason',
    labelNames: ['reason'],
    registers,
  })
  const optOuts = new Counter({
    name: 'sgw_opt_outs_total',
    help: 'Contacts that opted out, or in again',
    labelNames: ['change'],
    registers,
  })
  for (const change of ['out', 'in']) optOuts.inc({ change }, 0)
  // Starts each at zero, so that an alert sees the first failure as an increase.
  for (const reason of FAILURE_CODES) failed.inc({ reason }, 0)
  const concluded = new Counter({
    name: 'sgw_delivery_states_total',
    help: 'Sent messages, by delivery outcome',
    labelNames: ['status'],
    registers,
  })
  for (const status of DELIVERY_CONCLUSIONS) concluded.inc({ status }, 0)
  const note = (event: GatewayEvent, { failureCode }: LoggedRow): void => {
    if (event.type === 'opt_out') optOuts.inc({ change: event.optedOut ? 'out' : 'in' })
    else if (event.type === 'sms_inbound') received.inc()
    else if (event.type === 'sms_delivery') concluded.inc({ status: event.deliveryStatus })
    else if (event.status === 'queued') accepted.inc()
    else if (event.status === 'sent') sent.inc()
    else if (event.status === 'failed' && failureCode !== null) failed.inc({ reason: failureCode })
  }
  return (hub) => void hub.subscribe(note)
}
