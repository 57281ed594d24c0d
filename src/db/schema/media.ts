import { sql } from 'drizzle-orm'
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/** Files that apps have uploaded to send. A row whose `sha256` is null belongs to an upload that has not ended, and nothing shows it. */
export const media = sqliteTable(
  'media',
  {
    id: text().primaryKey(),
    tenantId: text('tenant_id').notNull(),
    contentType: text('content_type').notNull(),
    /** Empty if the upload named none. */
    fileName: text('file_name').notNull(),
    /** Bytes. For an unfinished upload, its maximum. */
    size: integer().notNull(),
    /** Of the bytes, in hexadecimal. */
    sha256: text(),
    /** When the upload began, or was last repeated, epoch milliseconds. */
    uploadedAt: integer('uploaded_at').notNull(),
  },
  (table) => [
    /** Covers the count of a tenant's bytes. */
    index('media_by_tenant').on(table.tenantId, table.size),
    uniqueIndex('media_by_content')
      .on(table.tenantId, table.sha256, table.contentType, table.fileName)
      .where(sql`sha256 IS NOT NULL`),
    index('media_by_age').on(table.uploadedAt),
    index('media_unfinished')
      .on(table.uploadedAt)
      .where(sql`sha256 IS NULL`),
  ],
)

/** The bytes of media, in pieces of 64 KiB, so that no commit takes long. */
export const mediaPieces = sqliteTable(
  'media_pieces',
  {
    mediaId: text('media_id')
      .notNull()
      .references(() => media.id, { onDelete: 'cascade' }),
    position: integer().notNull(),
    bytes: blob({ mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.mediaId, table.position] })],
)

/** Which messages carry which media. Their order is in the message's `attachments`. */
export const mediaUses = sqliteTable(
  'media_uses',
  {
    mediaId: text('media_id')
      .notNull()
      .references(() => media.id, { onDelete: 'cascade' }),
    messageId: text('message_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.mediaId, table.messageId] }),
    index('media_uses_by_message').on(table.messageId),
  ],
)
