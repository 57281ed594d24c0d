/** The views that have an address: `#/messages?state=failed&id=msg_…`. */
export const VIEWS = ['overview', 'messages', 'conversations', 'webhooks', 'numbers', 'apps', 'tenants'] as const
export type View = (typeof VIEWS)[number]

/** A count beside a view, for trouble only: what is failed or waits. */
export interface Trouble {
  count: number
  kind: 'bad' | 'warn'
  word: string
}
