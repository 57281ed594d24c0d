import { z } from 'zod'
import { time } from '../fields/answer-fields.ts'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { failureOf } from '../../core/message-failure.ts'
import type { Row } from '../../db/connection.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { listBy } from './list-by.ts'
import { MessagesQuery } from './messages-query.ts'

/** The filters of the list that apply to failed messages. */
export const FailuresQuery = MessagesQuery.omit({
  direction: true,
  status: true,
  state: true,
  include: true,
  page: true,
  limit: true,
})
export type FailuresQuery = z.output<typeof FailuresQuery>

const FailureGroup = z
  .object({
    failure: z.string().meta({ description: 'The value of the filter `failure` that lists them' }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'What all of them have as `error`; null if they differ, or the word says all' }),
    count: z.int(),
    resent: z.int().meta({ description: 'Of these, how many the operator has sent again' }),
    firstAt: time.meta({ description: 'When the oldest of them was accepted' }),
    lastAt: time.meta({ description: 'When the newest of them was accepted' }),
  })
  .meta({ id: 'FailureGroup' })
type FailureGroup = z.infer<typeof FailureGroup>

export const FailureGroups = z.object({ failures: z.array(FailureGroup) }).meta({
  id: 'FailureGroups',
  example: {
    failures: [
      {
        failure: 'unknown_number',
        error: 'Phone number +15555550100 is not registered in this provider account',
        count: 41,
        resent: 38,
        firstAt: '2026-11-20T13:02:11.004Z',
        lastAt: '2026-11-20T14:20:02.114Z',
      },
    ],
  },
})
export type FailureGroups = z.infer<typeof FailureGroups>

/** The texts of these failures differ per message. Reading only these takes a third of the time. */
const TEXT = `CASE WHEN error_code IN ('rejected', 'unknown_number') THEN error END`

/** The text in the last brackets of a refusal, if it ends with them. SQLite has no search from the end. */
const LAST_BRACKETS = `CASE WHEN error_code = 'rejected' AND error LIKE '%)' THEN substr(error, length(rtrim(error, replace(error, '(', ''))) + 1) END`

/** Messages that failed, by their texts and then by what these have in common. */
const countsSql = (conditions: string): string => `WITH texts AS (
    SELECT error_code, ${TEXT} AS error, count(*) AS count, sum(resent_as IS NOT NULL) AS resent, min(created_at) AS first_at, max(created_at) AS last_at
    FROM messages INDEXED BY messages_failed WHERE tenant_id = ?1 AND status = 'failed'${conditions} GROUP BY 1, 2)
  SELECT error_code, min(error) AS error, min(error) IS max(error) AS is_one, sum(count) AS count, sum(resent) AS resent, min(first_at) AS first_at, max(last_at) AS last_at
  FROM texts GROUP BY error_code, ${LAST_BRACKETS}`

/** The failed messages of the caller's tenant, counted by reason, most frequent first. */
export async function listFailures(gateway: Gateway, caller: Caller, query: FailuresQuery): Promise<FailureGroups> {
  // The groups have no pages.
  const list = await listBy(gateway, caller, { ...query, page: 1, limit: 1 })
  if (list === null) return { failures: [] }
  const given = Object.entries(list.filters).filter(([, value]) => value !== undefined)
  const conditions = given.map(([condition], index) => ` AND ${condition.replaceAll(/\?(?!\d)/g, `?${index + 2}`)}`)
  const args = [caller.tenantId, ...given.map(([, value]) => value ?? null)]
  const rows = await gateway.database.reader.longRead(caller.tenantId, countsSql(conditions.join('')), args)
  const byFailure = Map.groupBy(rows, failureIn)
  const groups = [...byFailure].map(([failure, parts]) => groupOf(failure, parts))
  return { failures: groups.toSorted((a, b) => b.count - a.count) }
}

const failureIn = ({ error, error_code: code }: Row): string =>
  typeof error === 'string' ? failureOf(error) : String(code)

function groupOf(failure: string, parts: readonly Row[]): FailureGroup {
  const numbers = (column: string): number[] => parts.map((row) => Number(row[column]))
  const total = (column: string): number => numbers(column).reduce((sum, count) => sum + count, 0)
  const [first] = parts
  const isOne = parts.length === 1 && first?.['is_one'] === 1 && first['error'] !== null
  return {
    failure,
    error: isOne ? String(first['error']) : null,
    count: total('count'),
    resent: total('resent'),
    firstAt: isoTime(Math.min(...numbers('first_at'))),
    lastAt: isoTime(Math.max(...numbers('last_at'))),
  }
}
