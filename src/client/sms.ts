import { pagesOf, type Pages } from './pages.ts'
import { pause } from './pause.ts'
import { segment } from './requester.ts'
import { Resource } from './resource.ts'
import { SgwError } from './sgw-error.ts'
import type { Attachment, Media, NewMediaMessage, Notice, NotifiedMessage, UploadOptions } from './sms-types.ts'
import type {
  Accepted,
  FailureGroup,
  FailuresFilter,
  Message,
  MessageFilter,
  MessageState,
  NewMessage,
  Preview,
  Timeline,
} from './types.ts'

export interface SendOptions {
  /** Your own name for this message: a repeated call with the same key sends nothing. By default a new one each time. */
  idempotencyKey?: string | undefined
}

export interface SendAndWaitOptions extends SendOptions {
  /** Default 60,000. */
  timeoutMs?: number | undefined
}

const MAX_POLL_MS = 2000

/** Messages. */
export class Sms extends Resource {
  /** Accepts a message: the gateway has stored it and will send it. Retries are safe: it is sent once. Uploads its `media` first. */
  send(message: NewMessage | NewMediaMessage, options: SendOptions = {}): Promise<Accepted> {
    return this.#send(message, options)
  }

  /** Uploads a file of up to 1,500,000 bytes. The same file has the same `mediaId`. */
  upload(file: Blob, { fileName = (file as Partial<File>).name, signal }: UploadOptions = {}): Promise<Media> {
    return this.call('POST', '/sms/media', undefined, { file, query: { fileName }, repeatable: true, signal })
  }

  /** An uploaded file. */
  media(mediaId: string): Promise<Media> {
    return this.call('GET', `/sms/media/${segment(mediaId)}`)
  }

  /** Deletes an uploaded file. Throws with status 409 while a message that has not ended needs it. */
  async deleteMedia(mediaId: string): Promise<void> {
    await this.call('DELETE', `/sms/media/${segment(mediaId)}`)
  }

  /** Accepts a text made from any JSON, one message to each recipient. Retries are safe: each is sent once. */
  async notify(
    { to, ...notice }: Notice,
    body: unknown,
    { idempotencyKey = randomKey() }: SendOptions = {},
  ): Promise<NotifiedMessage[]> {
    const options = {
      query: { ...notice, to: String(to) },
      headers: { 'idempotency-key': idempotencyKey },
      repeatable: true,
    }
    return (await this.call<{ messages: NotifiedMessage[] }>('POST', '/sms/notify', body, options)).messages
  }

  /** Sends a message and waits until it is `sent` or `failed`. Throws with status 0 after `timeoutMs`. */
  async sendAndWait(message: NewMessage | NewMediaMessage, options: SendAndWaitOptions = {}): Promise<MessageState> {
    const { timeoutMs = 60_000, ...sendOptions } = options
    // It also ends an unanswered request, and the pause before a retry.
    const signal = AbortSignal.timeout(timeoutMs)
    const { messageId } = await this.#send(message, sendOptions, signal)
    for (let pollMs = 50; !signal.aborted; pollMs = Math.min(MAX_POLL_MS, pollMs * 2)) {
      const state = await this.#get(messageId, signal).catch(passing)
      if (state?.status === 'sent' || state?.status === 'failed') return state
      await pause(pollMs, signal)
    }
    throw new SgwError(`${messageId} was neither sent nor failed within ${timeoutMs} ms`)
  }

  /** One message. */
  get(messageId: string): Promise<MessageState> {
    return this.#get(messageId)
  }

  /** The tenant's messages, newest first. Messages that arrive while you read do not shift the pages. */
  list(filter: MessageFilter = {}): Pages<'messages', Message> {
    return pagesOf(this.requester, '/sms/messages', 'messages', filter, {
      keyOf: ({ messageId }) => messageId,
      pinned: ({ createdAt }) => ({ endDate: createdAt }),
    })
  }

  /** Why messages failed, the most frequent reason first. */
  failures(filter: FailuresFilter = {}): Promise<FailureGroup[]> {
    return this.member('failures', '/sms/failures', filter)
  }

  /** Cancels a message that is still queued. Throws with status 409 if it is not. */
  async cancel(messageId: string): Promise<void> {
    await this.call('DELETE', `/sms/${segment(messageId)}`)
  }

  /** How many SMS a text takes. Nothing is sent. */
  preview(body: string): Promise<Preview> {
    return this.call('POST', '/sms/preview', { body }, { repeatable: true })
  }

  /** What happened to a message, and why it waits. */
  timeline(messageId: string): Promise<Timeline> {
    return this.call('GET', `/sms/${segment(messageId)}/timeline`)
  }

  /** The pictures and other files of a message. */
  attachments(messageId: string): Promise<Attachment[]> {
    return this.member('attachments', `/sms/${segment(messageId)}/attachments`)
  }

  /** The bytes of an attachment, at most 5 MiB, with their type. */
  attachment(messageId: string, attachmentId: string): Promise<Blob> {
    const path = `/sms/${segment(messageId)}/attachments/${segment(attachmentId)}`
    return this.call('GET', path, undefined, { blob: true })
  }

  async #send(
    { media, ...message }: NewMediaMessage,
    { idempotencyKey = randomKey() }: SendOptions,
    signal?: AbortSignal,
  ): Promise<Accepted> {
    for (const file of media ?? []) {
      const { mediaId } = await this.upload(file, { signal })
      message.mediaIds = [...(message.mediaIds ?? []), mediaId]
    }
    return this.call('POST', '/sms/send', message, {
      headers: { 'idempotency-key': idempotencyKey },
      repeatable: true,
      signal,
    })
  }

  #get(messageId: string, signal?: AbortSignal): Promise<MessageState> {
    return this.call('GET', `/sms/status/${segment(messageId)}`, undefined, { signal })
  }
}

/** A gateway that restarts, or has too many requests, answers later. */
function passing(error: unknown): null {
  if (error instanceof SgwError && (error.status === 0 || error.status === 429 || error.status >= 500)) return null
  throw error
}

/** `crypto.randomUUID` is missing on pages that were not loaded over https. */
const randomKey = (): string => [...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join('-')
