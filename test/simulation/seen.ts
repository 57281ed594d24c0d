import type { MessageStatus } from '../../src/db/schema/messages.ts'

/** A message as it stands in the database. */
export interface Seen {
  /** The order of acceptance. */
  seq: number
  id: string
  status: MessageStatus
  rcMessageId: string | null
  error: string | null
  tenantId: string
  from: string
  to: string
  text: string
  jobs: number
}
