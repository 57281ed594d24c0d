/** The views that have an address: `#/messages?state=failed&id=msg_…`. */
export const VIEWS = ['all', 'overview', 'messages', 'conversations', 'webhooks', 'numbers', 'apps', 'tenants'] as const
export type View = (typeof VIEWS)[number]

/** A count beside a view: of failed or waiting items, or, without color, of contacts waiting for an answer. */
export interface Trouble {
  count: number | string
  kind: 'bad' | 'warn' | 'plain'
  word: string
  /** For all tenants: the tenant that has the most of them. */
  tenantId?: string
}
