import { CHANGED_CONSENT, KNOWN_CONSENT } from '../../db/schema/opt-outs.ts'
import type { Statement } from '../../db/writer.ts'
import type { Consent } from '../../provider/consents.ts'
import { storeOptOuts } from './opt-out-rows.ts'

/** The fact that says whether an account's consents were ever read completely: `begun`, then `known`. */
export const factOf = (accountId: string): string => `${FACTS}${accountId}`
const FACTS = 'consents_of:'

export const NOTE_FACT = `INSERT INTO facts (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/** Returns the accounts that have a fact and no extension anymore. If one is connected again, its next list is its first. */
export const LEAVE_ACCOUNTS = `UPDATE facts SET value = 'begun' WHERE name >= '${FACTS}' AND name < '${FACTS.replace(':', ';')}'
    AND substr(name, ${FACTS.length + 1}) NOT IN (SELECT account_id FROM extensions)
  RETURNING substr(name, ${FACTS.length + 1}) AS account_id`

const READ = `SELECT value ->> 'contact' AS contact, value ->> 'number' AS number, value ->> 'optedOut' AS optedOut,
    value ->> 'modifiedAt' AS modifiedAt FROM json_each(?2)`

/** The numbers of each tenant that a consent covers: those that text with the contact, or about which something is stored. */
const covered = (table: 'conversation_activity' | 'opt_outs'): string => `
  SELECT one.contact, one.number AS covers, one.optedOut, one.modifiedAt, pair.tenant_id, pair.number
    FROM (${READ}) AS one CROSS JOIN (SELECT DISTINCT tenant_id FROM extensions WHERE account_id = ?1) AS tenant
    CROSS JOIN ${table} AS pair ON pair.tenant_id = tenant.tenant_id AND pair.contact = one.contact
      AND (one.number = '' OR pair.number = one.number)`

/**
 * A consent that is already stored is not a change, and while the account's first list has not been read to its end (`?4` names the fact), none
 * is. Of two consents with the same time, the opt-out counts, whichever comes first.
 */
const DECISIONS = `SELECT iif(NOT EXISTS (SELECT 1 FROM facts WHERE name = ?4 AND value = 'known') OR EXISTS (SELECT 1 FROM consents AS known WHERE known.contact = pair.contact AND known.account_id = ?1
        AND known.number = pair.covers AND (known.modified_at, known.opted_out) >= (pair.modifiedAt, pair.optedOut)),
      '${KNOWN_CONSENT}', '${CHANGED_CONSENT}') AS decisionId,
    pair.tenant_id AS tenantId, pair.number, pair.contact, pair.optedOut, 'provider' AS source, pair.modifiedAt AS decidedAt, ?3 AS now
  FROM (${covered('conversation_activity')} UNION ${covered('opt_outs')}) AS pair
  WHERE EXISTS (SELECT 1 FROM phone_numbers AS own JOIN extensions USING (tenant_id, extension_id)
      WHERE own.tenant_id = pair.tenant_id AND own.number = pair.number AND account_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM opt_outs AS later WHERE later.tenant_id = pair.tenant_id AND later.contact = pair.contact
      AND later.number = pair.number AND (later.decided_at,
        iif(later.changed_by IN ('${CHANGED_CONSENT}', '${KNOWN_CONSENT}'), later.opted_out, 1)) >= (pair.modifiedAt, pair.optedOut))
  ORDER BY pair.modifiedAt, pair.optedOut`

const STORE = `INSERT INTO consents (contact, account_id, number, opted_out, modified_at)
  SELECT contact, ?1, number, optedOut, modifiedAt FROM (${READ})
    WHERE EXISTS (SELECT 1 FROM extensions WHERE account_id = ?1) ORDER BY modifiedAt
  ON CONFLICT (contact, account_id, number) DO UPDATE SET opted_out = excluded.opted_out, modified_at = excluded.modified_at
    WHERE (excluded.modified_at, excluded.opted_out) > (consents.modified_at, consents.opted_out)`

const STORE_DECISIONS = storeOptOuts(DECISIONS)

/** Stores consents of an account, and the opt-outs that follow from them, in one commit. `now`: epoch milliseconds. */
export function consentStatements(consents: readonly Consent[], accountId: string, now: number): Statement[] {
  const rows = consents.map(({ contact, number, isOut, modifiedAt }) => ({
    contact,
    number: number ?? '',
    optedOut: isOut ? 1 : 0,
    modifiedAt,
  }))
  const json = JSON.stringify(rows)
  return [
    { sql: STORE_DECISIONS, args: [accountId, json, now, factOf(accountId)] },
    { sql: STORE, args: [accountId, json] },
  ]
}
