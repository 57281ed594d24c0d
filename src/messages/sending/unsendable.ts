import { sleep } from '../../core/clock.ts'
import { RETRY_AFTER_FAULT_MS } from '../../core/limits.ts'
import { errorName } from '../../core/log.ts'
import { MESSAGE_FAILURES, type MessageFailure, rejected } from '../../core/message-failure.ts'
import { type TenantEntry, listedBy } from '../../provider/directory.ts'
import type { TokenResult } from '../../provider/tokens.ts'
import { giveUp } from './attempt-store.ts'
import type { SendingContext } from './context.ts'
import type { NumberLookups } from './number-lookups.ts'
import type { Entry, NumberQueue } from './number-queue.ts'
import { loadMessages } from './outbound-message.ts'
import type { Scheduler } from './scheduler.ts'
import type { Sender } from './sending-extension.ts'

/** How many messages of a queue end at once when no extension can send them. */
const MAX_ENDED_AT_ONCE = 64

/** Handles queues that no extension can send for: gets what they wait for, or ends their messages. */
export class Unsendable {
  constructor(
    readonly context: SendingContext,
    readonly scheduler: Scheduler,
    readonly numberLookups: NumberLookups,
  ) {}

  withoutSender(queue: NumberQueue, entry: Entry, sender: Exclude<Sender, { type: 'ready' }>): void {
    if (sender.type === 'wait') this.#wait(queue, sender)
    else if (sender.type === 'failed' || this.numberLookups.ensureLookedUp(entry))
      void this.#endAll(queue, sender.type, sender.failure)
  }

  /**
   * Reads the lists of numbers again while one still has a number that does not belong to its extension. An entry that only such extensions
   * could send waits for that, and then ends. Returns whether `extensionId` is one of them.
   */
  numberMoved(queue: NumberQueue, entry: Entry, extensionId: string): boolean {
    const { movedNumber } = entry
    const tenant = this.context.directory.known(queue.tenantId)
    if (movedNumber === null || tenant === undefined) return false
    const { extensionIds, failure } = movedNumber
    if (!extensionIds.some((id) => listedBy(tenant, id, queue.number) !== undefined)) return false
    const isLookedUp = this.numberLookups.ensureLookedUp(entry)
    if (!extensionIds.includes(extensionId)) return false
    if (!isLookedUp) return true
    this.#take(queue, entry)
    void this.#end(entry, rejected(failure.message, failure.code))
    return true
  }

  /** Ends entries with media whose number cannot send media. If that is unknown, reads the extension's list first. */
  endWithoutMedia(queue: NumberQueue): void {
    for (const entry of [...queue.waitingWithMedia].slice(0, MAX_ENDED_AT_ONCE)) {
      if (entry.isQuarantined || this.scheduler.entries.isBusy(queue.number, entry.to)) continue
      const maySend = this.scheduler.mediaCalls.maySend(entry)
      if (maySend === undefined || maySend === true) continue
      if (maySend === null && !this.numberLookups.ensureLookedUp(entry)) continue
      this.#take(queue, entry)
      void this.#end(entry, MESSAGE_FAILURES.cannotSendMedia)
    }
  }

  #wait(queue: NumberQueue, sender: Extract<Sender, { type: 'wait' }>): void {
    const { directory, tokens } = this.context
    const { tenantId } = queue
    if (sender.reason === 'loading') void this.#touchAfter(queue, directory.tenant(tenantId))
    if (sender.reason !== 'token') return
    void this.#touchAfter(queue, tokens.access({ tenantId, extensionId: sender.extensionId }))
  }

  async #touchAfter(queue: NumberQueue, work: Promise<TokenResult | TenantEntry>): Promise<void> {
    try {
      const result = await work
      // A failed refresh is retried elsewhere, and success wakes the tenant.
      if ('type' in result && result.type === 'deferred') return
    } catch (error) {
      const { tenantId } = queue
      this.context.log.error({ tenantId, error: errorName(error) }, 'a queue cannot go on, trying again')
      await sleep(this.context.clock, RETRY_AFTER_FAULT_MS)
    }
    this.scheduler.touch(queue)
  }

  /** Ends entries that no extension can send, a few at a time. If the number is missing, only those accepted before the last number lookup. */
  async #endAll(queue: NumberQueue, type: 'missing' | 'failed', failure: MessageFailure): Promise<void> {
    const ending: Entry[] = []
    while (ending.length < MAX_ENDED_AT_ONCE) {
      // A quarantined message waits until its extension is connected and can look it up.
      const entry = queue.waiting.find(
        (one) => !one.isQuarantined && !this.scheduler.entries.isBusy(queue.number, one.to),
      )
      if (entry === undefined || (type === 'missing' && !this.numberLookups.ensureLookedUp(entry))) break
      ending.push(entry)
      this.#take(queue, entry)
    }
    await Promise.all(ending.map((entry) => this.#end(entry, failure)))
  }

  #take(queue: NumberQueue, entry: Entry): void {
    queue.remove(entry)
    queue.ending.add(entry)
  }

  async #end(entry: Entry, failure: MessageFailure): Promise<void> {
    const { queue, messageId } = entry
    try {
      const message = (await loadMessages(this.context.database.gate, [messageId])).get(messageId)
      if (message !== undefined) await giveUp(this.context, entry, message, failure)
      this.scheduler.forget(entry)
    } catch (error) {
      this.context.log.error({ messageId, error: errorName(error) }, 'a message cannot be ended, trying again')
      await sleep(this.context.clock, RETRY_AFTER_FAULT_MS)
      this.scheduler.add(entry)
    }
    queue.ending.delete(entry)
    this.scheduler.touch(queue)
  }
}
