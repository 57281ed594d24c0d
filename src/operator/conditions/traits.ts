/** What a condition is to those who tell people about it. All of it may be absent: then the condition is told everywhere, in its own words. */
export interface Traits {
  /** How bad the console finds it, the worst first. Default: a warning that ranks after everything about messages. */
  kind?: 'stopped' | 'waits' | 'webhooks' | 'interrupted'
  /**
   * What tells it in the console in place of its own words: how many messages wait, the state of the extension that is its subject, or the
   * webhook that is.
   */
  toldBy?: 'waiting' | 'extension' | 'webhook'
  /** Other conditions may cause it, so `sgw status` tells it after them. */
  isEffect?: true
  /** Its alert cannot be muted. */
  isAlwaysTold?: true
}

/** By the name of the alert. This is plain data without imports, because the console's page also reads it. */
export const TRAITS: Readonly<Record<string, Traits>> = {
  storage_failing: { kind: 'stopped', isAlwaysTold: true },
  encryption_key_missing: { kind: 'stopped' },
  provider_credentials: { kind: 'stopped' },
  provider_unreachable: { kind: 'waits', toldBy: 'waiting' },
  no_extension_can_send: { kind: 'stopped', isAlwaysTold: true },
  extension_revoked: { kind: 'stopped', toldBy: 'extension' },
  queue_old: { kind: 'waits', toldBy: 'waiting', isEffect: true },
  extension_not_receiving: { kind: 'waits', toldBy: 'extension' },
  extension_failing: { kind: 'waits', toldBy: 'extension' },
  jwt_ends: { kind: 'waits', toldBy: 'extension' },
  session_ends: { kind: 'waits', toldBy: 'extension' },
  webhook_failing: { kind: 'webhooks', toldBy: 'webhook' },
  webhooks_interrupted: { kind: 'interrupted' },
}

export const traitsOf = (alert: string): Traits => TRAITS[alert] ?? {}
