import { MAX_MEDIA_CALLS, MAX_MEDIA_CALLS_PER_EXTENSION } from '../../core/limits.ts'
import { listedBy } from '../../provider/directory.ts'
import type { SendingContext } from './context.ts'
import type { Entry, NumberQueue } from './number-queue.ts'
import { extensionFor } from './sending-extension.ts'

/**
 * Which messages with media may begin: few calls at once have media, and a number must be allowed to send them. One that may not
 * begin holds its own conversation. Texts to others do not wait for it.
 */
export class MediaCalls {
  /** The calls under way, with their extensions. */
  readonly #calls = new Map<Entry, string>()
  /** The queues that have a message which waits for a call to end. */
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

  /** Whether its number may send media; null if its list was read before that was stored, undefined if none has it. */
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
