import type { Attachment } from '../../provider/provider.ts'

/** The column `attachments` of a message; null if it has none. */
export const storedAttachments = (attachments: readonly Attachment[]): string | null =>
  attachments.length === 0 ? null : JSON.stringify(attachments)

/** A message's attachments, from its column `attachments`. */
export const attachmentsOf = (column: unknown): readonly Attachment[] =>
  typeof column === 'string' ? (JSON.parse(column) as Attachment[]) : []
