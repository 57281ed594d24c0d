import { computed, signal } from '@preact/signals'
import { type OptOut, type OptOutPolicy, SgwError } from '../../../client/client.ts'
import { nextReadingMs } from '../messages/wait-ends.ts'
import { isCancelled } from '../messages/words.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import type { LiveEvent } from '../state/live-event.ts'
import type { MediaIds } from '../thread/composer.tsx'
import { MessagesOfPair, READ_AFTER_MS } from '../thread/messages-of-pair.ts'

/** The open conversation: its messages, and whether the contact has opted out. */
export class OpenConversation extends MessagesOfPair {
  /** Null if the contact has not opted out, and undefined while that is not known. */
  readonly optOut = signal<OptOut | null | undefined>(undefined)
  /** What happens to messages to contacts that have opted out; null until it is known. */
  readonly policy = signal<OptOutPolicy | null>(null)
  /** Our messages that have not gone out. */
  readonly waiting = computed(() =>
    this.messages.value.filter(({ status }) => status === 'queued' || status === 'sending'),
  )
  /** Those that will be sent although the contact has opted out. */
  readonly late = computed(() => (this.optOut.value && this.policy.value === 'observe' ? this.waiting.value : []))
  /** Why the gateway did not accept the last text, as a sentence; '' if it did. */
  readonly sendError = signal('')
  /** Whether the opt-out could not be read. */
  #isOptOutDue = false

  /** Reads the messages, and what could not be read before. */
  override async load(): Promise<void> {
    await super.load()
    if (this.#isOptOutDue) await this.readOptOut(true)
    if (this.waiting.value.length > 0) this.plan(nextReadingMs(this.waiting.value))
  }

  /** Sends a text with uploaded files, now or at a time in the API's form (`sendAt`). Returns whether the gateway accepted it. */
  async send(body: string, mediaIds: MediaIds, sendAt: string | undefined): Promise<boolean> {
    try {
      await whileSignedIn(this.sgw.sms.send({ from: this.number, to: this.contact, body, mediaIds, sendAt }))
      this.sendError.value = ''
    } catch (error) {
      this.sendError.value = failureText(error)
      return false
    }
    void this.load()
    return true
  }

  /**
   * Cancels those of these messages that are not cancelled yet. Continues after a failure, and throws at the end if any could not be cancelled.
   */
  async cancel(messageIds: readonly string[]): Promise<void> {
    this.plan(READ_AFTER_MS)
    const cancelled = this.messages.value.filter(({ error }) => isCancelled(error)).map(({ messageId }) => messageId)
    const ids = messageIds.filter((id) => !cancelled.includes(id))
    const ends = await Promise.allSettled(ids.map((id) => whileSignedIn(this.sgw.sms.cancel(id))))
    this.plan(READ_AFTER_MS)
    const failures = ends.flatMap((end): unknown => (end.status === 'rejected' ? end.reason : []))
    if (failures.length === 0) return
    const other = failures.find((failure) => !(failure instanceof SgwError && failure.status === 409))
    if (other !== undefined || ids.length === 1) throw other ?? failures[0]
    throw new Error(`${failures.length} of ${ids.length} could no longer be cancelled`)
  }

  /** Reads how and when the contact opted out, if it may have. */
  async readOptOut(isOptedOut: boolean): Promise<void> {
    const { sgw, number, contact } = this
    this.#isOptOutDue = false
    if (!isOptedOut) return void (this.optOut.value = null)
    try {
      const { page } = sgw.optOuts.list({ number, contact, limit: 1, include: 'policy' })
      const { optOuts, policy = null } = await whileSignedIn(page(1))
      this.policy.value = policy
      this.optOut.value = optOuts[0] ?? null
    } catch {
      // The messages are also read soon, and then say why the gateway cannot be read.
      this.#isOptOutDue = true
    }
  }

  async readPolicy(): Promise<void> {
    this.policy.value ??= await this.sgw.optOuts.policy()
  }

  async setOptOut(optedOut: boolean): Promise<void> {
    const { sgw, number, contact } = this
    await whileSignedIn(sgw.optOuts.set({ number, contact, optedOut }))
    await this.readOptOut(optedOut)
  }

  /** Takes an event: changes a known message immediately, and reads the messages again for a new one. */
  override note(event: LiveEvent): void {
    if (event.type === 'opt_out' && this.isOf(event)) void this.readOptOut(event.optedOut)
    this.take(event)
    const isNew = event.type === 'sms_inbound' && this.isOf({ number: event.to, contact: event.from })
    if (isNew || event.type === 'gap') this.plan(READ_AFTER_MS)
  }

  /** The list shows a newest text of this conversation that somebody else may have sent. */
  reach(messageId: string): void {
    if (this.isLoaded.value && !this.messages.value.some((message) => message.messageId === messageId))
      this.plan(READ_AFTER_MS)
  }
}
