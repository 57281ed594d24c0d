import type { Accepted, NewMessage } from './types.ts'

/** Whom to text about a tool's report. */
export interface Notice {
  /** A number of a connected extension, E.164. */
  from: string
  /** Up to 10 recipients, E.164. */
  to: string | readonly string[]
  /**
   * The text, in which `{{path.to.0.value}}` stands for a value of the body. Without it, the gateway uses a common member of the body, such as
   * `message`.
   */
  text?: string | undefined
}

/** The accepted message to one recipient. */
export interface NotifiedMessage extends Accepted {
  to: string
}

/** A message with pictures or other files. */
export interface NewMediaMessage extends Omit<NewMessage, 'body'> {
  /** Up to 1000 UTF-16 code units, or none. */
  body?: string | null | undefined
  /** Files that are uploaded first, each with its type; a `File` with its name. They come after those of `mediaIds`. */
  media?: readonly Blob[] | undefined
}

export interface UploadOptions {
  /** The file name that the recipient sees. By default a `File`'s own. */
  fileName?: string | undefined
  signal?: AbortSignal | undefined
}

/** A file that was uploaded to be sent. */
export interface Media {
  mediaId: string
  contentType: string
  /** Bytes. */
  size: number
  fileName: string | null
  /** Kept until this time, or longer if messages use it. */
  expiresAt: string
}

/** A picture or another file of a message. */
export interface Attachment {
  attachmentId: string
  /** As the provider says: `image/jpeg`. */
  contentType: string
  /** Bytes; null if the provider does not say. */
  size: number | null
  fileName: string | null
}
