// What `sgw/client` exports.

export { Sgw } from './sgw.ts'
export { SgwError } from './sgw-error.ts'
export { verifyWebhook } from './verify-webhook.ts'
export type { ConnectionState, EventsOptions, EventStream } from './event-stream.ts'
export type { Page, Pages } from './pages.ts'
export type { RequestOptions, SgwOptions } from './requester.ts'
export type { SendAndWaitOptions, SendOptions } from './sms.ts'
export type { WebhookHeaders, WebhookRequest } from './verify-webhook.ts'
export type * from './event-types.ts'
export type * from './resource-types.ts'
export type * from './usage-types.ts'
export type * from './types.ts'
