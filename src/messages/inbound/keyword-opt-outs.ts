import { keywordOf } from '../../core/keyword.ts'
import { isE164 } from '../../core/phone.ts'
import type { Gateway } from '../gateway.ts'
import { storeOptOuts } from '../opt-outs/opt-out-rows.ts'
import { decidedAtOf, providerNow } from '../../provider/provider-time.ts'

interface InboundText {
  from: string
  to: string
  text: string
  createdAt?: number | null
}

/** The columns that a keyword adds to the row of its message. */
export interface Keyword {
  optedOut: number
  decidedAt: number
}

/** Returns the keyword if the text is exactly one and comes from a phone number; null for any other text. */
export function keywordIn(gateway: Gateway, { from, to, text, createdAt }: InboundText): Keyword | null {
  const keyword = keywordOf(text)
  if (keyword === null || !isE164(from) || !isE164(to)) return null
  const decidedAt = decidedAtOf(gateway, createdAt ?? providerNow(gateway))
  return { optedOut: keyword === 'out' ? 1 : 0, decidedAt }
}

/** A message that was not stored decides nothing: it was stored earlier, or was erased. */
const NEW_DECISIONS = `SELECT messages.id AS decisionId, messages.tenant_id AS tenantId, messages.to_number AS number, messages.from_number AS contact,
    input.optedOut, 'keyword' AS source, input.decidedAt, input.now
  FROM input CROSS JOIN messages ON messages.id = input.messageId AND messages.job_id = input.jobId AND messages.tenant_id = input.tenantId`

/** Stores the keywords of a commit's messages, after the statement that stores the messages. */
export const STORE_KEYWORDS = storeOptOuts(NEW_DECISIONS)
