import type { MessageStatus } from '../../src/db/schema/messages.ts'

/** A message as stored in the database. */
export interface MessageSnapshot {
  /** Its position in the order of acceptance. */
  seq: number
  id: string
  status: MessageStatus
  rcMessageId: string | null
  error: string | null
  tenantId: string
  from: string
  to: string
  text: string
  hasMedia: boolean
  jobs: number
}
