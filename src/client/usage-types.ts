import type { DeliveryOutcome, WaitingReason } from './types.ts'

// Totals of a tenant's messages. As in `types.ts`, a type test proves each equal to the schema of its route.

/** Which days of usage to read: UTC days, at most 92, by default the last 30. */
export interface UsageRange {
  startDate?: string | Date | undefined
  endDate?: string | Date | undefined
  appId?: string | undefined
}

/** What an app sent and received on a UTC day. */
export interface UsageDay {
  /** `2026-11-24`. */
  date: string
  appId: string
  sent: number
  failed: number
  received: number
  /** Of the sent messages; one with media counts as one. */
  segments: number
  /** How many of the sent messages carried media. */
  media?: number
}

/** The tenant's messages at a glance. */
export interface Overview {
  /** The start of the first bucket. */
  from: string
  to: string
  totals: OverviewTotals
  /** The totals of the range before, of the same length. */
  previous: OverviewTotals
  /** Always 48, of equal length. */
  buckets: { at: string; sent: number; failed: number; received: number }[]
  /** Milliseconds from queued to sent; null if nothing was sent. */
  p50Ms: number | null
  p95Ms: number | null
  /** Scheduled messages included. */
  queued: number
  scheduled: number
  oldestQueuedAt: string | null
  waiting: OverviewWaiting[]
  /** The most frequent first, at most 10. */
  errors: { error: string; failure: string; count: number; lastAt: string }[]
  destinations: OverviewDestination[]
}

/** Messages that wait for the same reason. */
export interface OverviewWaiting {
  reason: WaitingReason
  extensionId?: string
  /** When that ends, if it is known. */
  until?: string
  count: number
  /** When the oldest of them was accepted. */
  since: string
  /** When the pause or the outage began; null if there is none, or if it began before the gateway's last start. */
  began: string | null
}

export interface OverviewTotals {
  accepted: number
  sent: number
  failed: number
  /** Part of `failed`. */
  cancelled: number
  received: number
  delivered: number
  undelivered: number
}

/** The results of a webhook destination. */
export interface OverviewDestination {
  url: string
  kind: 'app' | 'trigger'
  appId?: string
  triggerId?: string
  success: number
  failed: number
  p95Ms: number | null
  /** The first failure since the last success; null if it works, or is no longer in use. */
  failingSince: string | null
  /** Failed attempts since then. */
  failures: number
  /** With `include=nextAttempt`: when the next retry of what failed is due; absent if none is planned, or nothing fails. */
  nextAttemptAt?: string
  /** Of the latest attempt; null if it is no longer known. */
  lastOutcome: DeliveryOutcome | null
  lastStatusCode?: number
  /** Deliveries of the last 30 days whose latest attempt failed, until they are delivered again or dismissed. */
  neverArrived: number
  /** When the earliest of these attempts began; null if there are none. */
  neverArrivedSince: string | null
}
