/** A message as the provider gets it. */
export interface OutboundSms {
  from: string
  to: string
  /** May be empty where there is media. */
  text: string
  /** In order. Absent for a text alone. */
  media?: readonly OutboundMedia[] | undefined
}

/** A file that goes out with a message. */
export interface OutboundMedia {
  /** One of `core/media-types.ts`. */
  contentType: string
  /** As the upload named it: a text without control characters. Null if it named none. */
  fileName: string | null
  /** Bytes. */
  size: number
  /** Reads the bytes. Each call reads them anew, so that they are in memory only while the call of the provider is made. */
  read(): Promise<Uint8Array>
}

/** The provider's answer to a message that it accepted. */
export interface SmsAnswer {
  providerMessageId: string
  /** True when the answer itself already says that sending failed. */
  failed: boolean
  /** The extension whose store has the message, where the answer names one. */
  ownerId: string | null
}
