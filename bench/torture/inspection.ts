import { Database } from 'bun:sqlite'
import type { MessageView } from '../../src/simulator/control-messages.ts'
import type { SendLoad } from './load.ts'
import { overtaken } from './overtaken.ts'
import type { TortureStage } from './stage.ts'

/** The findings of a scenario: figures for the table, and violated guarantees. */
export interface Findings {
  figures: Record<string, number | string>
  /** One sentence per violation. */
  violations: string[]
}

export interface OutboundRow {
  id: string
  status: string
  rc_message_id: string | null
  body: string
}

export interface InspectOptions {
  /** A restored database may lack messages that were acknowledged after its copy. */
  mayForget?: boolean
  /** Messages that were acknowledged after the copy from which the database was restored: only these may be missing. */
  forgiven?: ReadonlySet<string>
  /** Every text is used once, so a text that the provider has twice is a duplicate. */
  distinctTexts: boolean
}

const ALL = 10_000_000

/** Compares the acknowledged messages with the API, the database file and the provider's store. Stops the gateway. */
export async function inspectSends(stage: TortureStage, load: SendLoad, options: InspectOptions): Promise<Findings> {
  const drainMs = await stage.drained()
  const states = await statesByApi(stage, load)
  const stopped = await stage.gateway.terminate()
  const records = await stage.control.messages({ direction: 'Outbound', limit: ALL })
  const { rows, integrity } = readFile(stage.databasePath)
  const { forgiven = new Set() } = options
  const missing = [...load.accepted.keys()].filter((id) => !states.has(id) && !forgiven.has(id))
  const lost = options.mayForget === true ? 0 : missing.length
  // A restored database knows nothing of what was sent after its copy.
  const isRestored = options.mayForget === true || forgiven.size > 0
  const figures = {
    acknowledged: load.accepted.size,
    'accepted without an answer': rows.filter(({ id }) => !load.accepted.has(id)).length,
    'at the provider': records.length,
    'with pictures': records.filter(({ attachments }) => attachments.length > 0).length,
    sent: rows.filter((row) => row.status === 'sent').length,
    failed: rows.filter((row) => row.status === 'failed').length,
    'acknowledged and lost': lost,
    'duplicated at the provider': duplicates(records, rows, options),
    'out of order': isRestored ? 0 : overtaken(load, records, rows),
    stuck: rows.filter((row) => row.status === 'queued' || row.status === 'sending').length,
    'drained after s': drainMs === null ? 'not' : Math.round(drainMs / 100) / 10,
    integrity,
  }
  const violations = [
    ...zero(figures, ['acknowledged and lost', 'duplicated at the provider', 'out of order', 'stuck']),
    ...bindings(records, rows, isRestored),
    ...wrongPictures(load, records, rows),
    ...disagreements(states, rows),
    ...(drainMs === null ? ['The queue was not empty after 60 s'] : []),
    ...(integrity === 'ok' ? [] : [`PRAGMA integrity_check: ${integrity}`]),
    ...(stopped.code === 0 ? [] : [`The gateway's exit code was ${stopped.code}`]),
  ]
  return { figures, violations }
}

export const zero = (figures: Record<string, number | string>, names: readonly string[]): string[] =>
  names.flatMap((name) => (figures[name] === 0 ? [] : [`${name}: ${figures[name]}`]))

/** The status of each acknowledged message by the API. Messages that the API does not know are absent. */
async function statesByApi(stage: TortureStage, load: SendLoad): Promise<Map<string, string>> {
  const states = new Map<string, string>()
  const ids = [...load.accepted.keys()]
  const ask = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const response = await stage.call('GET', `/v1/sms/status/${id}`)
      if (response.ok) states.set(id, ((await response.json()) as { status: string }).status)
    }
  }
  await Promise.all(Array.from({ length: 8 }, ask))
  return states
}

function readFile(path: string): { rows: OutboundRow[]; integrity: string } {
  const database = new Database(path)
  try {
    const rows = database
      .query(`SELECT id, status, rc_message_id, body FROM messages WHERE direction = 'outbound'`)
      .all() as OutboundRow[]
    const [check] = database.query('PRAGMA integrity_check').all() as { integrity_check: string }[]
    return { rows, integrity: check?.integrity_check ?? 'no answer' }
  } finally {
    database.close()
  }
}

/** With distinct texts, counts records beyond the first of a text. Else counts records that belong to no message. */
function duplicates(
  records: readonly MessageView[],
  rows: readonly OutboundRow[],
  { distinctTexts }: InspectOptions,
): number {
  if (distinctTexts) return records.length - new Set(records.map((record) => record.text)).size
  const bound = new Set(rows.map((row) => row.rc_message_id))
  return records.filter((record) => !bound.has(record.messageId)).length
}

/** A message is `sent` if and only if it has exactly one record at the provider, with the same text. */
function bindings(records: readonly MessageView[], rows: readonly OutboundRow[], isRestored: boolean): string[] {
  const byId = new Map(records.map((record) => [record.messageId, record]))
  const bound = rows.filter((row) => row.rc_message_id !== null)
  const wrong = (what: string, found: readonly unknown[]): string[] =>
    found.length === 0 ? [] : [`${what}: ${found.length}`]
  return [
    ...wrong(
      'sent without a provider id',
      rows.filter((row) => row.status === 'sent' && row.rc_message_id === null),
    ),
    ...wrong(
      'a provider id, but not sent',
      bound.filter((row) => row.status !== 'sent'),
    ),
    ...wrong(
      'a provider id twice',
      bound.length === new Set(bound.map((row) => row.rc_message_id)).size ? [] : ['some'],
    ),
    ...wrong(
      'bound to a record of another text',
      bound.filter((row) => byId.get(row.rc_message_id ?? '')?.text !== row.body),
    ),
    ...(isRestored ? [] : wrong('at the provider, but not sent here', unbound(records, bound))),
  ]
}

/** Each acknowledged message that is bound to a record carries its own picture there, or none if it had none. */
function wrongPictures(load: SendLoad, records: readonly MessageView[], rows: readonly OutboundRow[]): string[] {
  const byId = new Map(records.map((record) => [record.messageId, record]))
  const wrong = rows.filter(({ id, rc_message_id: recordId }) => {
    const [sent, record] = [load.accepted.get(id), byId.get(recordId ?? '')]
    if (sent === undefined || record === undefined) return false
    const expected = sent.pictureBytes === null ? [] : [sent.pictureBytes]
    return JSON.stringify(record.attachments.map(({ size }) => size)) !== JSON.stringify(expected)
  })
  return wrong.length === 0 ? [] : [`bound to a record of other pictures: ${wrong.length}`]
}

function unbound(records: readonly MessageView[], bound: readonly OutboundRow[]): MessageView[] {
  const ids = new Set(bound.map((row) => row.rc_message_id))
  return records.filter((record) => !ids.has(record.messageId))
}

function disagreements(states: ReadonlyMap<string, string>, rows: readonly OutboundRow[]): string[] {
  const differing = rows.filter((row) => states.has(row.id) && states.get(row.id) !== row.status)
  return differing.length === 0 ? [] : [`API and file disagree: ${differing.length}`]
}
