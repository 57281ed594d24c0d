/** A message for the provider. */
export interface OutboundSms {
  from: string
  to: string
  /** May be empty where there is media. */
  text: string
  /** In order. Absent for a text without media. */
  media?: readonly OutboundMedia[] | undefined
}

/** A file that goes out with a message. */
export interface OutboundMedia {
  /** One of `core/media-types.ts`. */
  contentType: string
  /** The name from the upload, without control characters. Null if it had none. */
  fileName: string | null
  /** Bytes. */
  size: number
  /** Reads the bytes. Each call reads them again, so that they are in memory only during the provider call. */
  read(): Promise<Uint8Array>
}

/** The provider's answer to a message that it accepted. */
export interface SmsAnswer {
  providerMessageId: string
  /** True if the answer itself says that sending failed. */
  failed: boolean
  /** The extension whose store has the message, if the answer names one. */
  ownerId: string | null
}
