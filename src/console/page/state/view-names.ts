/** The views that have an address: `#/messages?state=failed&id=msg_…`. */
export const VIEWS = ['all', 'overview', 'messages', 'conversations', 'webhooks', 'numbers', 'apps', 'tenants'] as const
export type View = (typeof VIEWS)[number]

/** A count beside a view, for trouble only: what is failed or waits. */
export interface Trouble {
  count: number
  kind: 'bad' | 'warn'
  word: string
  /** Of all tenants: the one that has the most of them. */
  tenantId?: string
}
