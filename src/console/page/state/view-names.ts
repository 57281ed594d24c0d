/** The views that have an address: `#/messages?state=failed&id=msg_…`. */
export const VIEWS = ['all', 'overview', 'messages', 'conversations', 'webhooks', 'numbers', 'apps', 'tenants'] as const
export type View = (typeof VIEWS)[number]

/** A count beside a view: of what failed or waits, and plain of who waits for an answer. */
export interface Trouble {
  count: number | string
  kind: 'bad' | 'warn' | 'plain'
  word: string
  /** Of all tenants: the one that has the most of them. */
  tenantId?: string
}
