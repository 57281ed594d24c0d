import type { Accepted } from './types.ts'

/** Whom to text about what a tool reports. */
export interface Notice {
  /** A number of a connected extension, E.164. */
  from: string
  /** Up to 10 recipients, E.164. */
  to: string | readonly string[]
  /** In which `{{path.to.0.value}}` is a value of the body; without it a usual place of the body counts, such as `message`. */
  text?: string | undefined
}

/** The message to one recipient that was accepted. */
export interface NotifiedMessage extends Accepted {
  to: string
}

/** A picture or another file that came with a message. */
export interface Attachment {
  attachmentId: string
  /** As the provider says: `image/jpeg`. */
  contentType: string
  /** Bytes; null if the provider does not say. */
  size: number | null
  fileName: string | null
}
