import type { OptOutSource } from '../../db/schema/opt-outs.ts'
import type { RowOperation } from '../../db/writer.ts'

/** A decision of a contact, the provider or an app that a contact has opted out, or in. */
export interface OptOutDecision extends Record<string, string | number | null> {
  /** The id of the message or request behind it. */
  decisionId: string
  tenantId: string
  /** The tenant's own number. */
  number: string
  contact: string
  /** 1 opts out, 0 opts in. */
  optedOut: number
  source: OptOutSource
  /** Epoch milliseconds by the provider's clock. */
  decidedAt: number
  /** Epoch milliseconds. */
  now: number
}

const IS_SAME = 'opt_outs.opted_out = excluded.opted_out'

/**
 * SQL that stores decisions, also as part of another commit. `decisions` is a SELECT of the members of `OptOutDecision` under their names. The
 * later decision by the provider's time wins; an app's decision always applies, because it is dated now. If the state changes, an SQL trigger
 * appends the event in the same commit.
 */
export const storeOptOuts = (decisions: string): string => `
  INSERT INTO opt_outs (id, tenant_id, number, contact, opted_out, source, since, decided_at, changed_by)
    SELECT 'opt_' || lower(hex(randomblob(8))), tenantId, number, contact, optedOut, source, now, decidedAt, decisionId
    FROM (${decisions}) WHERE true
  ON CONFLICT (tenant_id, contact, number) DO UPDATE SET
    source = iif(${IS_SAME}, source, excluded.source),
    since = iif(${IS_SAME}, since, excluded.since),
    changed_by = excluded.changed_by,
    opted_out = excluded.opted_out,
    decided_at = max(opt_outs.decided_at, excluded.decided_at)
  WHERE excluded.decided_at >= opt_outs.decided_at OR excluded.source = 'api'`

/** Stores a decision in a separate commit. */
export const STORE_OPT_OUT: RowOperation<OptOutDecision> = {
  key: 'decisionId',
  statements: [
    storeOptOuts(`SELECT input.decisionId, input.tenantId, input.number, input.contact, input.optedOut, input.source,
      input.decidedAt, input.now FROM input`),
  ],
}

/**
 * SQL: 1 if the contact of the message in `input` has opted out, by the later of the stored decision for its numbers and the consents that
 * cover them. Each is encoded as its time with two more bits, the lowest of which says whether it is an opt-out; on equal times a consent
 * counts less.
 */
const LATEST = `max(
    coalesce((SELECT CAST(decided_at AS INTEGER) * 4 + 2 + opted_out FROM opt_outs
      WHERE contact = input."to" AND number = input."from" AND tenant_id = input.tenantId), 0),
    coalesce((SELECT max(CAST(modified_at AS INTEGER) * 4 + opted_out) FROM consents
      WHERE contact = input."to" AND number IN (input."from", '') AND account_id IN (
        SELECT account_id FROM phone_numbers AS own JOIN extensions USING (tenant_id, extension_id)
          WHERE own.tenant_id = input.tenantId AND own.number = input."from")), 0)) & 1`

/** The same for a contact without a consent, as almost all are. */
const HAS_OPTED_OUT = `EXISTS (SELECT 1 FROM opt_outs
  WHERE opt_outs.contact = input."to" AND opt_outs.number = input."from" AND opt_outs.tenant_id = input.tenantId AND opted_out = 1)`

/**
 * SQL condition: the tenant blocks opt-outs, and the recipient of the message in `input` has opted out. Needs the tenant's
 * row in the FROM clause.
 */
export const IS_BLOCKED = `(tenants.opt_out_policy = 'block' AND iif(EXISTS (SELECT 1 FROM consents WHERE contact = input."to"),
  ${LATEST}, ${HAS_OPTED_OUT}))`
