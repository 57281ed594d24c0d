import { MESSAGE_FAILURES } from '../../src/core/message-failure.ts'
import type { MessageStatus } from '../../src/db/schema/messages.ts'
import type { MessageSnapshot } from './message-snapshot.ts'
import type { OutboundSms } from '../../src/provider/outbound-sms.ts'
import type { GatewayEvent } from '../../src/messages/realtime/event.ts'
import type { Disk, Statement } from './disk.ts'
import type { AttemptRef, ModelProvider, ProviderRecord } from './model-provider.ts'
import type { FairnessChecker } from './fairness-checker.ts'
import { OrderChecker, type AttemptSnapshot } from './order-checker.ts'
import { valueOf } from './timeline.ts'

const MESSAGES = `SELECT m.seq, m.id, m.status, m.rc_message_id, m.error, m.tenant_id, m.from_number, m.to_number, m.body,
  m.attachments IS NOT NULL AS has_media,
  (SELECT count(*) FROM jobs WHERE jobs.subject = m.id) AS jobs
  FROM messages AS m WHERE m.direction = 'outbound'`

const ATTEMPTS = `SELECT seq, message_id, boot_id, closed_at IS NULL AS is_open, outcome IS 'not_accepted' AND http_status IN (403, 503) AS is_refused FROM send_attempts`

const CHANGES_MESSAGES = /\bmessages\b|DELETE FROM "?jobs\b|\bsend_attempts\b/i

const NEXT: Record<string, readonly MessageStatus[]> = {
  '': ['queued', 'sending'],
  queued: ['sending', 'failed'],
  sending: ['sent', 'failed'],
}
const isFinal = (status: MessageStatus): boolean => status === 'sent' || status === 'failed'

/** Checks the guarantees at each commit, event and call. */
export class Checker {
  /** The first violated guarantee. */
  violation: string | null = null
  readonly messages = new Map<string, MessageSnapshot>()
  readonly cancelled = new Set<string>()
  readonly called = new Set<string>()
  readonly #published = new Map<string, MessageStatus[]>()
  readonly #changes = new Map<string, boolean>()
  readonly order = new OrderChecker((text) => this.violated(text))
  /** Set only in scenarios without faults. */
  fairness: FairnessChecker | null = null

  constructor(
    readonly disk: Disk,
    readonly provider: ModelProvider,
    readonly log: (text: string) => void,
  ) {}

  violated(text: string): void {
    this.violation ??= text
    this.log(`VIOLATION ${text}`)
  }

  /** Call after each commit. Compares the database with its previous state and with the provider. */
  committed(statements: readonly Statement[], now: number): void {
    if (!statements.some(({ sql }) => this.#changesMessages(sql))) return
    for (const message of this.#read()) this.#compare(message)
    this.#checkBindings()
    this.order.committed(this.messages.values(), this.#readAttempts(), now)
    this.fairness?.committed(this.messages.values(), now)
  }

  /** Accepts the present state of the database. */
  accept(): void {
    for (const message of this.#read()) this.messages.set(message.id, message)
    this.#published.clear()
  }

  /** Checks a published event: it must follow its commit, in a possible order. */
  published(event: GatewayEvent): void {
    if (event.type !== 'sms_status') return
    const { messageId, status } = event
    const before = this.#published.get(messageId) ?? []
    this.#published.set(messageId, [...before, status])
    this.log(`event ${status} of ${messageId}`)
    const committed = this.messages.get(messageId)?.status
    // The message may have changed again since the commit of the event.
    const isCommitted =
      committed === status || (committed !== undefined && !isFinal(status) && isLegalNext(status, committed))
    if (!isCommitted)
      this.violated(`event ${status} of ${messageId} was published while the database says ${committed ?? 'nothing'}`)
    if (!isLegalNext(before.at(-1), status)) this.violated(`events of ${messageId}: ${[...before, status].join(' → ')}`)
  }

  /** Returns the open attempt of a call, read from the disk at the time of the call. */
  async attemptOf(
    message: OutboundSms,
    bootId: string,
  ): Promise<AttemptRef & { startedAt: number; extensionId: string; isNew: boolean }> {
    const { rows } = await this.disk.database.execute({
      sql: `SELECT a.seq AS id, a.message_id, a.started_at, a.extension_id, m.status FROM send_attempts AS a JOIN messages AS m ON m.id = a.message_id
        WHERE a.closed_at IS NULL AND a.outcome IS NULL AND a.boot_id = ?1 AND a.from_number = ?2 AND a.to_number = ?3 AND m.body = ?4
          AND (m.attachments IS NOT NULL) = ?5 ORDER BY a.seq`,
      args: [bootId, message.from, message.to, message.text, message.media === undefined ? 0 : 1],
    })
    const row = rows.find(({ id }) => !this.called.has(String(id))) ?? rows.at(-1)
    if (row === undefined || row['status'] !== 'sending')
      this.violated('a provider call was made without a committed open attempt')
    const attemptId = String(row?.['id'])
    const isNew = !this.called.has(attemptId)
    this.called.add(attemptId)
    return {
      attemptId,
      messageId: String(row?.['message_id']),
      startedAt: Number(row?.['started_at']),
      extensionId: String(row?.['extension_id']),
      isNew,
    }
  }

  isDone(): boolean {
    for (const { status, jobs } of this.messages.values()) if (!isFinal(status) || jobs > 0) return false
    const { rows } = valueOf(this.disk.database.execute('SELECT count(*) AS jobs FROM jobs'))
    return rows[0]?.['jobs'] === 0
  }

  /** Call when all messages have ended. */
  checkEnd(acknowledged: ReadonlySet<string>): void {
    for (const id of acknowledged) if (!this.messages.has(id)) this.violated(`${id} was acknowledged and is lost`)
    for (const message of this.messages.values()) {
      if (!isFinal(message.status)) this.violated(`${message.id} is still ${message.status} at the end`)
      this.#checkEnd(message)
    }
    this.#checkNumbers()
  }

  #checkEnd(message: MessageSnapshot): void {
    const own = this.provider.records.filter((record) => record.attempt.messageId === message.id)
    if (own.length > 1) this.violated(`${message.id} was accepted by the provider ${own.length} times`)
    if (this.cancelled.has(message.id) && message.error !== MESSAGE_FAILURES.cancelled.text)
      this.violated(`${message.id} was cancelled and is ${message.status}: ${message.error ?? ''}`)
    if (
      message.status !== 'failed' ||
      message.rcMessageId !== null ||
      message.error === MESSAGE_FAILURES.unconfirmed.text
    )
      return
    if (own.length > 0)
      this.violated(`${message.id} failed with "${message.error ?? ''}" but was accepted by the provider`)
  }

  /**
   * Each record of the provider must belong to a sent message, or to one with the same text that could not be
   * confirmed.
   */
  #checkNumbers(): void {
    const bound = new Set([...this.messages.values()].map((message) => message.rcMessageId))
    const spare = new Map<string, number>()
    for (const message of this.messages.values()) {
      if (message.error === MESSAGE_FAILURES.unconfirmed.text)
        spare.set(keyOf(message), (spare.get(keyOf(message)) ?? 0) + 1)
    }
    for (const record of this.provider.records) {
      if (bound.has(record.providerMessageId)) continue
      const { text, mediaTypes } = record
      const hasMedia = mediaTypes.length > 0
      const key = keyOf({ from: record.from ?? '', to: record.to[0]?.phoneNumber ?? '', text, hasMedia })
      const left = (spare.get(key) ?? 0) - 1
      spare.set(key, left)
      if (left < 0)
        this.violated(
          `the provider accepted ${record.providerMessageId} for ${record.attempt.messageId}, which no message is bound to`,
        )
    }
  }

  #read(): MessageSnapshot[] {
    return valueOf(this.disk.database.execute(MESSAGES)).rows.map((row) => ({
      seq: Number(row['seq']),
      id: String(row['id']),
      status: row['status'] as MessageStatus,
      rcMessageId: row['rc_message_id'] as string | null,
      error: row['error'] as string | null,
      tenantId: String(row['tenant_id']),
      from: String(row['from_number']),
      to: String(row['to_number']),
      text: String(row['body']),
      hasMedia: row['has_media'] === 1,
      jobs: Number(row['jobs']),
    }))
  }

  #readAttempts(): AttemptSnapshot[] {
    return valueOf(this.disk.database.execute(ATTEMPTS)).rows.map((row) => ({
      seq: Number(row['seq']),
      messageId: String(row['message_id']),
      bootId: String(row['boot_id']),
      isOpen: row['is_open'] === 1,
      isRefused: row['is_refused'] === 1,
    }))
  }

  #compare(message: MessageSnapshot): void {
    const before = this.messages.get(message.id)
    this.messages.set(message.id, message)
    if (!isFinal(message.status) && message.jobs !== 1)
      this.violated(`${message.id} is ${message.status} and has ${message.jobs} jobs`)
    if (before?.status === message.status) {
      if (before.rcMessageId !== message.rcMessageId || before.error !== message.error)
        this.violated(`${message.id} changed although it stayed ${message.status}`)
      return
    }
    this.log(
      `${message.id} ${before?.status ?? 'new'} → ${message.status} ${message.rcMessageId ?? ''}${message.error ?? ''}`,
    )
    if (NEXT[before?.status ?? '']?.includes(message.status) !== true)
      this.violated(`${message.id} went from ${before?.status ?? 'nothing'} to ${message.status}`)
  }

  /** Each provider id must belong to one message, and to a record with its text. */
  #checkBindings(): void {
    const holders = new Map<string, string>()
    for (const message of this.messages.values()) {
      const { id, status, rcMessageId } = message
      if (status === 'sent' && rcMessageId === null) this.violated(`${id} is sent without a provider id`)
      if (rcMessageId === null) continue
      const other = holders.get(rcMessageId)
      if (other !== undefined) this.violated(`${id} and ${other} are bound to the same provider id ${rcMessageId}`)
      holders.set(rcMessageId, id)
      const record = this.provider.records.find((known) => known.providerMessageId === rcMessageId)
      if (record === undefined || !carries(record, message))
        this.violated(`${id} is bound to ${rcMessageId}, which is not its text or has other media`)
    }
  }

  #changesMessages(sql: string): boolean {
    let changes = this.#changes.get(sql)
    if (changes === undefined) this.#changes.set(sql, (changes = CHANGES_MESSAGES.test(sql)))
    return changes
  }
}

const carries = (record: ProviderRecord, { from, to, text, hasMedia }: MessageSnapshot): boolean =>
  record.from === from &&
  record.to[0]?.phoneNumber === to &&
  record.text === text &&
  record.mediaTypes.length > 0 === hasMedia

const keyOf = ({ from, to, text, hasMedia }: Pick<MessageSnapshot, 'from' | 'to' | 'text' | 'hasMedia'>): string =>
  JSON.stringify([from, to, text, hasMedia])

/** Events are lost in a crash, so any may be missing. None may be published twice or out of order. */
function isLegalNext(last: MessageStatus | undefined, status: MessageStatus): boolean {
  const order = ['queued', 'sending', 'sent']
  const rank = (one: MessageStatus): number => order.indexOf(one === 'failed' ? 'sent' : one)
  return last === undefined || rank(status) > rank(last)
}
