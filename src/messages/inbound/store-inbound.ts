import { e164Beside, isE164, isSameNumber } from '../../core/phone.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { Attachment } from '../../provider/provider.ts'
import type { RowOperation } from '../../db/writer.ts'
import type { Gateway } from '../gateway.ts'
import { countUsage } from '../usage/roll-up.ts'
import { storedAttachments } from '../media/attachments.ts'
import { knownInbound } from './known-inbound.ts'
import { tombstonesOf } from './tombstones.ts'
import { INSERT_WEBHOOK_JOBS } from './webhook-job-rows.ts'
import { type Keyword, STORE_KEYWORDS, keywordIn } from './keyword-opt-outs.ts'

export interface InboundSms {
  tenantId: string
  extensionId: string
  providerMessageId: string
  from: string
  to: string
  text: string
  /** Epoch milliseconds by the provider's clock; null or absent if the provider does not report it. */
  createdAt?: number | null
  attachments?: readonly Attachment[]
}

interface InboundRow extends Record<string, string | number | null> {
  messageId: string
  jobId: string
  tenantId: string
  extensionId: string
  rcMessageId: string
  from: string
  to: string
  body: string
  /** JSON: the hashes under which its tombstone is stored, if it was erased. */
  tombstones: string
  now: number
  /** JSON; null for most messages, which have none. */
  attachments: string | null
}

/** `attachments`: the expression of that column. */
const insertMessages = (
  attachments: string,
): string => `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, rc_message_id,
      receiving_extension_id, created_at, updated_at, attachments)
    SELECT input.messageId, input.jobId, input.tenantId,
      coalesce(
        (SELECT app_id FROM contact_owners WHERE contact = input."from" AND number = input."to" AND tenant_id = input.tenantId),
        (SELECT id FROM apps WHERE tenant_id = input.tenantId ORDER BY seq LIMIT 1), ''),
      'inbound', input."from", input."to", input.body, 'received', input.rcMessageId, input.extensionId, input.now, input.now, ${attachments}
    FROM input
    WHERE NOT EXISTS (SELECT 1 FROM erased_messages)
      OR NOT EXISTS (SELECT 1 FROM json_each(input.tombstones) AS own CROSS JOIN erased_messages ON id_hash = own.value)
    ON CONFLICT DO NOTHING RETURNING job_id AS key, 'message' AS type`

/**
 * Stores a message and the jobs of its deliveries in one commit. Stores nothing if the tenant has this provider id already, or has erased it.
 * The message belongs to the app that last texted that contact from that number, otherwise to the tenant's oldest app. Returns a row of `type`
 * `message` for a new message, and one of `type` `job` for each job.
 */
export const STORE: RowOperation<InboundRow> = {
  key: 'jobId',
  statements: [
    insertMessages('NULL'),
    INSERT_WEBHOOK_JOBS,
    countUsage({
      tenantId: 'stored.tenant_id',
      appId: 'stored.app_id',
      at: 'stored.created_at',
      counts: { received: '1' },
      from: `FROM input CROSS JOIN messages AS stored ON stored.id = input.messageId AND stored.job_id = input.jobId
      AND stored.tenant_id = input.tenantId WHERE true`,
    }),
  ],
}

/** `STORE` for messages with attachments, which are rare. */
const STORE_WITH_ATTACHMENTS: RowOperation<InboundRow> = {
  key: STORE.key,
  statements: [insertMessages('input.attachments'), ...STORE.statements.slice(1)],
}

/** The same for keywords, which are also rare: the message's commit also stores the opt-out. */
export const STORE_WITH_KEYWORD: RowOperation<InboundRow & Keyword> = {
  key: STORE.key,
  statements: [...STORE_WITH_ATTACHMENTS.statements, STORE_KEYWORDS],
}

const MESSAGE_ID_DRAWS = 5

/** Few enough not to delay other requests for long. */
const RUN_LENGTH = 64

/**
 * Divides messages into runs that `storeRun` commits at once. A commit groups its rows by operation, so each run has one operation, which
 * keeps the messages in order.
 */
export async function inboundRuns(gateway: Gateway, received: readonly InboundSms[]): Promise<InboundSms[][]> {
  const runs: InboundSms[][] = []
  let last: unknown = null
  for (const one of received) {
    const sms = await inE164(gateway, one)
    const { operation } = operationFor(gateway, sms)
    const run = runs.at(-1)
    if (run !== undefined && operation === last && run.length < RUN_LENGTH) run.push(sms)
    else runs.push([sms])
    last = operation
  }
  return runs
}

/** Stores a run in one commit, as `storeInbound` does each; returns how many were new. */
export async function storeRun(gateway: Gateway, run: readonly InboundSms[]): Promise<number> {
  const stored = await Promise.all(run.map((sms) => storeInbound(gateway, sms)))
  return stored.filter(Boolean).length
}

/** The message with its numbers in E.164, where the tenant's own numbers make them unambiguous. */
export const inE164 = (gateway: Gateway, sms: InboundSms): InboundSms | Promise<InboundSms> =>
  isReady(sms) ? sms : withKnownNumbers(gateway, sms)

const isReady = ({ from, to }: InboundSms): boolean => isE164(to) && isE164(from)

/**
 * Stores an inbound SMS (from `inE164`) once, however often it arrives; its row reaches the writer in this tick. Resolves when it is on disk;
 * true if it was new.
 */
export async function storeInbound(gateway: Gateway, sms: InboundSms): Promise<boolean> {
  for (let draw = 1; draw <= MESSAGE_ID_DRAWS; draw++) {
    const stored = await storeOnce(gateway, sms, draw === 1 ? messageIdOf(sms) : gateway.ids.message(null))
    if (stored !== 'id_taken') return stored === 'new'
  }
  throw new Error('Cannot store an inbound message: every id drawn is taken')
}

/** An ambiguous number is the tenant's if its digits match, and then shows how to read the sender's. */
async function withKnownNumbers({ directory }: Gateway, sms: InboundSms): Promise<InboundSms> {
  const { numbers } = await directory.tenant(sms.tenantId)
  const to = [...numbers.keys()].find((own) => isSameNumber(own, sms.to)) ?? sms.to
  return { ...sms, to, from: e164Beside(to, sms.from) }
}

const BLOCK = 2 ** 24

/**
 * An inbound message always gets the same id: after a restore it arrives again from the provider's store, and receivers must recognize it. If
 * the provider's ids are consecutive numbers, so are the gateway's: a commit then writes one page of the index instead of one page per
 * message.
 */
function messageIdOf({ tenantId, providerMessageId }: InboundSms): string {
  const number = Number(providerMessageId)
  if (!Number.isSafeInteger(number) || number < 0 || String(number) !== providerMessageId)
    return `msg_${sha256Hex(`${tenantId}/${providerMessageId}`).slice(0, 12)}`
  const block = sha256Hex(`${tenantId}/${Math.floor(number / BLOCK)}`).slice(0, 6)
  return `msg_${block}${(number % BLOCK).toString(16).padStart(6, '0')}`
}

async function storeOnce(gateway: Gateway, sms: InboundSms, messageId: string): Promise<'new' | 'known' | 'id_taken'> {
  const { writer } = gateway.database
  const row: InboundRow = {
    messageId,
    jobId: gateway.ids.of('job'),
    tenantId: sms.tenantId,
    extensionId: sms.extensionId,
    rcMessageId: sms.providerMessageId,
    from: sms.from,
    to: sms.to,
    body: sms.text,
    tombstones: tombstonesOf(gateway, sms),
    now: gateway.clock.now(),
    attachments: storedAttachments(sms.attachments ?? []),
  }
  const { operation, keyword } = operationFor(gateway, sms)
  const rows = await (keyword === null
    ? writer.row(operation, row)
    : writer.row(STORE_WITH_KEYWORD, { ...row, ...keyword }))
  if (!rows.some(({ type }) => type === 'message')) {
    const known = await knownInbound(gateway, sms.tenantId, [sms.providerMessageId])
    return known.has(sms.providerMessageId) ? 'known' : 'id_taken'
  }
  for (const job of rows.filter(({ type }) => type === 'job'))
    gateway.jobs.wake('webhook', String(job['lane']), row.tenantId, 0)
  return 'new'
}

function operationFor(gateway: Gateway, sms: InboundSms) {
  const keyword = keywordIn(gateway, sms)
  if (keyword !== null) return { operation: STORE_WITH_KEYWORD, keyword }
  return { operation: sms.attachments?.length ? STORE_WITH_ATTACHMENTS : STORE, keyword }
}
