import { CHANGED_CONSENT, KNOWN_CONSENT } from '../../db/schema/opt-outs.ts'
import type { Statement } from '../../db/writer.ts'
import type { Consent } from '../../provider/consents.ts'
import { storeOptOuts } from './opt-out-rows.ts'

/** The fact that says whether the consents of an account were ever read to the end: `begun`, then `known`. */
export const factOf = (accountId: string): string => `${FACTS}${accountId}`
const FACTS = 'consents_of:'

export const NOTE_FACT = `INSERT INTO facts (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** The accounts that have a fact and no extension any more. */
export const LEFT_ACCOUNTS = `SELECT substr(name, ${FACTS.length + 1}) AS account_id FROM facts
  WHERE name >= '${FACTS}' AND name < '${FACTS.replace(':', ';')}'
    AND substr(name, ${FACTS.length + 1}) NOT IN (SELECT account_id FROM extensions)`

const READ = `SELECT value ->> 'contact' AS contact, value ->> 'number' AS number, value ->> 'optedOut' AS optedOut,
    value ->> 'modifiedAt' AS modifiedAt FROM json_each(?2)`

/** The numbers of ours that a consent covers, of each tenant: those that text with the contact, or about which something is stored. */
const covered = (table: 'conversation_activity' | 'opt_outs'): string => `
  SELECT one.contact, one.number AS covers, one.optedOut, one.modifiedAt, pair.tenant_id, pair.number
    FROM (${READ}) AS one CROSS JOIN (SELECT DISTINCT tenant_id FROM extensions WHERE account_id = ?1) AS tenant
    CROSS JOIN ${table} AS pair ON pair.tenant_id = tenant.tenant_id AND pair.contact = one.contact
      AND (one.number = '' OR pair.number = one.number)`

/** A consent that is stored already is no change, and none is in the first list of an account (`?4`). */
const DECISIONS = `SELECT iif(?4 OR EXISTS (SELECT 1 FROM consents AS known WHERE known.contact = pair.contact AND known.account_id = ?1
        AND known.number = pair.covers AND known.modified_at >= pair.modifiedAt), '${KNOWN_CONSENT}', '${CHANGED_CONSENT}') AS decisionId,
    pair.tenant_id AS tenantId, pair.number, pair.contact, pair.optedOut, 'provider' AS source, pair.modifiedAt AS decidedAt, ?3 AS now
  FROM (${covered('conversation_activity')} UNION ${covered('opt_outs')}) AS pair
  WHERE EXISTS (SELECT 1 FROM phone_numbers AS own JOIN extensions USING (tenant_id, extension_id)
      WHERE own.tenant_id = pair.tenant_id AND own.number = pair.number AND account_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM opt_outs AS later WHERE later.tenant_id = pair.tenant_id AND later.contact = pair.contact
      AND later.number = pair.number AND later.decided_at >= pair.modifiedAt)
  ORDER BY pair.modifiedAt`

const STORE = `INSERT INTO consents (contact, account_id, number, opted_out, modified_at)
  SELECT contact, ?1, number, optedOut, modifiedAt FROM (${READ})
    WHERE EXISTS (SELECT 1 FROM extensions WHERE account_id = ?1) ORDER BY modifiedAt
  ON CONFLICT (contact, account_id, number) DO UPDATE SET opted_out = excluded.opted_out, modified_at = excluded.modified_at
    WHERE excluded.modified_at > consents.modified_at`

const STORE_DECISIONS = storeOptOuts(DECISIONS)

interface Known {
  accountId: string
  /** Whether the account's list has never been read to its end. */
  isFirst: boolean
  /** Epoch milliseconds. */
  now: number
}

/** Stores consents of an account, and what follows from them, in one commit. */
export function consentStatements(consents: readonly Consent[], { accountId, isFirst, now }: Known): Statement[] {
  const rows = consents.map(({ contact, number, isOut, modifiedAt }) => ({
    contact,
    number: number ?? '',
    optedOut: isOut ? 1 : 0,
    modifiedAt,
  }))
  const json = JSON.stringify(rows)
  return [
    { sql: STORE_DECISIONS, args: [accountId, json, now, isFirst ? 1 : 0] },
    { sql: STORE, args: [accountId, json] },
  ]
}
