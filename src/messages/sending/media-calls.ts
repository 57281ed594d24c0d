import { MAX_MEDIA_CALLS, MAX_MEDIA_CALLS_PER_EXTENSION } from '../../core/limits.ts'
import { listedBy } from '../../provider/directory.ts'
import type { SendingContext } from './context.ts'
import type { Entry, NumberQueue } from './number-queue.ts'
import { extensionFor } from './sending-extension.ts'

/**
 * Decides which messages with media may start: only a few calls at once carry media, and the number must be allowed to send it. A message that
 * may not start holds only its own conversation.
 */
export class MediaCalls {
  /** The calls in progress, with their extensions. */
  readonly #calls = new Map<Entry, string>()
  /** The queues with a message that waits for a call to end. */
  readonly #waiting = new Set<NumberQueue>()

  constructor(
    readonly context: Pick<SendingContext, 'directory'>,
    readonly touch: (queue: NumberQueue) => void,
  ) {}

  /** Whether the entry must wait because of its media. A quarantined one makes no call. */
  isHeld(entry: Entry): boolean {
    if (!entry.hasMedia || entry.isQuarantined) return false
    const sender = this.#senderOf(entry)
    if (sender === undefined) return false
    if (sender.sendsMedia !== true) return true
    if (this.#hasRoom(sender.extensionId)) return false
    this.#waiting.add(entry.queue)
    return true
  }

  /** Whether its number may send media; null if its list was read before this was stored, undefined if no list has it. */
  maySend(entry: Entry): boolean | null | undefined {
    return this.#senderOf(entry)?.sendsMedia
  }

  take(entry: Entry, extensionId: string): void {
    if (entry.hasMedia) this.#calls.set(entry, extensionId)
  }

  free(entry: Entry): void {
    if (!this.#calls.delete(entry)) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const queue of waiting) this.touch(queue)
  }

  #hasRoom(extensionId: string): boolean {
    if (this.#calls.size >= MAX_MEDIA_CALLS) return false
    return (
      this.#calls
        .values()
        .filter((other) => other === extensionId)
        .toArray().length < MAX_MEDIA_CALLS_PER_EXTENSION
    )
  }

  #senderOf({ queue: { tenantId, number }, movedNumber }: Entry) {
    const tenant = this.context.directory.known(tenantId)
    const extensionId = tenant === undefined ? null : extensionFor(tenant, number, movedNumber)
    return tenant === undefined || extensionId === null ? undefined : listedBy(tenant, extensionId, number)
  }
}
