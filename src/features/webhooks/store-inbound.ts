import { isoTime } from '../../core/clock.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { RowOperation } from '../../db/writer.ts'
import type { Gateway } from '../../gateway.ts'

export interface InboundSms {
  tenantId: string
  extensionId: string
  providerMessageId: string
  from: string
  to: string
  text: string
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
  now: number
  runAt: number
}

/** For each app or trigger of an active tenant that wants the message, if this very commit stored it. */
const WEBHOOK_JOBS = `INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at)
  SELECT given.jobId, 'webhook', target.id, given.tenantId, given.messageId || ':' || target.id, given.runAt, given.now
  FROM given
  CROSS JOIN messages ON messages.id = given.messageId AND messages.job_id = given.jobId
  CROSS JOIN tenants ON tenants.id = given.tenantId AND tenants.status = 'active'`

/**
 * The message and a job for each of its deliveries in one commit; nothing when the tenant has this provider id already.
 * The message belongs to the app that last wrote to that contact from that number, else to the tenant's oldest. A
 * delivery's id is `<messageId>:<appId or triggerId>`, and its lane is its destination. Answers a row with each
 * delivery's lane, and at the end one that says whether the message is new; none when its id is taken.
 */
export const STORE: RowOperation<InboundRow> = {
  columns: ['messageId', 'jobId', 'tenantId', 'extensionId', 'rcMessageId', 'from', 'to', 'body', 'now', 'runAt'],
  key: 'jobId',
  statements: [
    `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, rc_message_id,
        receiving_extension_id, created_at, updated_at)
      SELECT messageId, jobId, tenantId,
        coalesce(
          (SELECT last.app_id FROM messages AS last WHERE last.tenant_id = tenantId AND last.to_number = given."from"
            AND last.from_number = given."to" AND last.direction = 'outbound' ORDER BY last.created_at DESC, last.seq DESC LIMIT 1),
          (SELECT id FROM apps WHERE tenant_id = tenantId ORDER BY created_at, seq LIMIT 1), ''),
        'inbound', given."from", given."to", given.body, 'received', rcMessageId, extensionId, now, now
      FROM given WHERE true
      ON CONFLICT DO NOTHING`,
    `${WEBHOOK_JOBS} CROSS JOIN apps AS target ON target.tenant_id = tenants.id AND target.is_active = 1 AND target.webhook_url IS NOT NULL
      RETURNING id AS key, lane`,
    `${WEBHOOK_JOBS} CROSS JOIN triggers AS target ON target.tenant_id = tenants.id RETURNING id AS key, lane`,
    `SELECT given.jobId AS key, stored.job_id = given.jobId AS is_new FROM given
      CROSS JOIN messages AS stored ON stored.rc_message_id = given.rcMessageId AND stored.tenant_id = given.tenantId
        AND stored.direction = 'inbound'`,
  ],
}

const MESSAGE_ID_DRAWS = 5

/** Stores an inbound SMS once, however often it comes; true when it was new. Settles when it is on disk. */
export async function storeInbound(gateway: Gateway, sms: InboundSms): Promise<boolean> {
  for (let draw = 1; draw <= MESSAGE_ID_DRAWS; draw++) {
    const stored = await storeOnce(gateway, sms, draw === 1 ? messageIdOf(sms) : gateway.ids.message(null))
    if (stored !== 'id_taken') return stored === 'new'
  }
  throw new Error('Cannot store an inbound message: every id drawn is taken')
}

/**
 * An inbound message gets the same id whenever it is taken in: after a restore it comes again from the provider's store,
 * and receivers that know it by its id must recognise it.
 */
const messageIdOf = (sms: InboundSms): string =>
  `msg_${sha256Hex(`${sms.tenantId}/${sms.providerMessageId}`).slice(0, 12)}`

async function storeOnce(gateway: Gateway, sms: InboundSms, messageId: string): Promise<'new' | 'known' | 'id_taken'> {
  const now = gateway.clock.now()
  const rows = await gateway.database.writer.row(STORE, {
    messageId,
    jobId: gateway.ids.of('job'),
    tenantId: sms.tenantId,
    extensionId: sms.extensionId,
    rcMessageId: sms.providerMessageId,
    from: sms.from,
    to: sms.to,
    body: sms.text,
    now,
    runAt: gateway.clock.steady(),
  })
  const row = rows.at(-1)
  if (row === undefined) return 'id_taken'
  if (Number(row['is_new']) !== 1) return 'known'
  announce(gateway, messageId, sms, now)
  for (const { lane } of rows.slice(0, -1)) gateway.jobs.added('webhook', String(lane), sms.tenantId)
  return 'new'
}

function announce(gateway: Gateway, messageId: string, sms: InboundSms, now: number): void {
  gateway.hub.publish({
    type: 'sms_inbound',
    messageId,
    from: sms.from,
    to: sms.to,
    body: sms.text,
    rcMessageId: sms.providerMessageId,
    tenantId: sms.tenantId,
    timestamp: isoTime(now),
    receivingExtensionId: sms.extensionId,
  })
}
