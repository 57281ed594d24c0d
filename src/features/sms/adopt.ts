import { errorName } from '../../core/log.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { Row } from '../../db/connection.ts'
import type { Gateway } from '../../gateway.ts'
import { FIRST_UNKNOWN } from './first-attempt-rows.ts'
import { OPEN_FIRST_ATTEMPT } from '../../db/open-attempts.ts'

const STANDING = `SELECT id, tenant_id, attempt_id, first_attempt_extension_id, first_attempt_at, body FROM messages WHERE ${OPEN_FIRST_ATTEMPT}`

/**
 * First attempts that stand in their message's row and that nobody runs get rows of their own and are settled: those of
 * another run, and one whose commit was done although it failed.
 */
export async function adoptFirstAttempts(gateway: Gateway): Promise<void> {
  const { rows } = await gateway.database.gate.execute(STANDING)
  const strays = rows.filter((row) => !gateway.firstAttempts.running.has(String(row['attempt_id'])))
  await Promise.all(strays.map((row) => adopt(gateway, row)))
}

/** One that cannot be stored keeps nobody else: it is tried again with the next look. */
async function adopt(gateway: Gateway, row: Row): Promise<void> {
  const { database, clock, config, jobs, log } = gateway
  const lane = String(row['first_attempt_extension_id'])
  const messageId = String(row['id'])
  const now = Math.ceil(clock.steady())
  try {
    await database.writer.row(FIRST_UNKNOWN, {
      messageId,
      attemptId: String(row['attempt_id']),
      jobSeq: 0,
      lane,
      settleAt: now + config.reconcileSettleMs,
      lookAt: now,
      httpStatus: null,
      code: null,
      requestId: null,
      textHash: sha256Hex(String(row['body'])),
      bootId: UNKNOWN_BOOT,
      startedAt: Math.min(Number(row['first_attempt_at']), now),
    })
    jobs.moved('settle', lane, String(row['tenant_id']), 0)
  } catch (error) {
    log.error({ messageId, error: errorName(error) }, 'a first attempt cannot be settled, trying again')
  }
}

/** The row of a message does not say which run of the process began it. */
const UNKNOWN_BOOT = ''
