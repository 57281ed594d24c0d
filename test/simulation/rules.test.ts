import { describe, expect, test } from 'bun:test'
import { RESULT, RETRY } from '../../src/features/sms/attempt-rows.ts'
import { FIRST_FAILED, FIRST_RETRY, FIRST_SENT } from '../../src/features/sms/first-attempt-rows.ts'
import { MIXED, type Profile } from './scenario.ts'
import { type BatchOptions, report, runBatch } from './seeds.ts'
import type { Weakening } from './stage.ts'

/** Within so many seeds the loss of a rule must show. */
const SEEDS = 2000
/** A process that dies often, on a database behind a network: a write that was under way may be done later. */
const LATE_WRITES: Profile = {
  faults: { crash_writing: 80, pause: 10 },
  fates: { rejected: 35, lost: 45, slow: 20 },
  messages: [1, 3],
  activeMs: [60_000, 120_000],
  lateWrites: true,
}
/** Without its index an inbound message cannot be stored at all. */
const NO_INBOUND: Profile = { ...MIXED, faults: { ...MIXED.faults, inbound: 0 } }

const FENCED = [RESULT, RETRY, FIRST_SENT, FIRST_FAILED, FIRST_RETRY].flatMap(({ statements }) => statements)

const RULES: Record<string, { weakening: Weakening; profile?: Profile; found: RegExp }> = {
  'an attempt row before the call': {
    // A process that dies takes the rows of its open attempts along: they had been in its memory only.
    weakening: { dies: (bootId) => forgetOpenAttempts(bootId) },
    found: /accepted by the provider|which no message is bound to|within 60 s/,
  },
  'one open attempt per text': {
    weakening: {
      schema: ['DROP INDEX send_attempts_open', 'DROP INDEX messages_open'],
      rewrite: (sql) =>
        sql
          .replace(
            'WHERE NOT EXISTS (SELECT 1 FROM send_attempts AS open',
            'WHERE true OR EXISTS (SELECT 1 FROM send_attempts AS open',
          )
          .replace('messages AS other WHERE', 'messages AS other WHERE false AND'),
    },
    found: /accepted by the provider|which no message is bound to/,
  },
  'the settle time': {
    weakening: { config: { reconcileSettleMs: 0, reconcileSettle5xxMs: 0 } },
    found: /accepted by the provider|which no message is bound to|which is not its text/,
  },
  'fencing of results, on the attempt id and on the message that stands for its attempt': {
    weakening: { rewrite: (sql) => (FENCED.some((own) => sql.endsWith(own)) ? unfenced(sql) : sql) },
    profile: LATE_WRITES,
    // A late write may also take the job of a message that another process has begun anew.
    found: /accepted by the provider|which no message is bound to|still queued at the end/,
  },
  'a provider id for one message only': {
    weakening: {
      schema: ['DROP INDEX messages_by_provider_id'],
      rewrite: (sql) => sql.replace('WHERE rc_message_id IN (', 'WHERE false AND rc_message_id IN ('),
    },
    profile: NO_INBOUND,
    found: /bound to the same provider id/,
  },
}

describe('every rule is needed', () => {
  for (const [name, { weakening, profile, found }] of Object.entries(RULES)) {
    test(`without ${name} something goes wrong`, async () => {
      const { seeds, failure } = await runBatch(numbers(SEEDS), { weakening, ...of(profile) })
      expect(failure?.violation).toMatch(found)
      if (process.env['SIM_LOG'] !== undefined && failure !== null)
        process.stdout.write(`${seeds} seeds\n${report(failure)}\n`)
    }, 60_000)
  }

  test('with all of them, late writes of a dead process do no harm', async () => {
    const { failure } = await runBatch(numbers(SEEDS / 4), of(LATE_WRITES))
    expect(failure === null ? '' : report(failure)).toBe('')
  }, 60_000)
})

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

const of = (profile: Profile | undefined): BatchOptions => (profile === undefined ? {} : { profile })

function forgetOpenAttempts(bootId: string) {
  const open = 'SELECT message_id FROM send_attempts WHERE outcome IS NULL AND boot_id = ?1'
  return [
    {
      sql: `UPDATE messages SET
          attempt_id = (SELECT id FROM send_attempts AS earlier WHERE earlier.message_id = messages.id AND outcome IS NOT NULL ORDER BY seq DESC LIMIT 1),
          status = iif(EXISTS (SELECT 1 FROM send_attempts AS earlier WHERE earlier.message_id = messages.id AND outcome IS NOT NULL), 'sending', 'queued')
        WHERE id IN (${open})`,
      args: [bootId],
    },
    {
      sql: `UPDATE jobs SET kind = 'send', lane = (SELECT from_number FROM messages WHERE id = subject) WHERE subject IN (${open})`,
      args: [bootId],
    },
    { sql: 'DELETE FROM send_attempts WHERE outcome IS NULL AND boot_id = ?1', args: [bootId] },
    {
      sql: `INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at)
        SELECT job_id, 'send', from_number, tenant_id, id, created_at, created_at FROM messages
        WHERE first_attempt_extension_id IS NOT NULL AND status = 'sending'`,
      args: [],
    },
    {
      sql: `UPDATE messages SET status = 'queued', attempt_id = NULL, first_attempt_extension_id = NULL
        WHERE first_attempt_extension_id IS NOT NULL AND status = 'sending'`,
      args: [],
    },
  ]
}

function unfenced(sql: string): string {
  return sql
    .replace(' AND send_attempts.id = given.attemptId', '')
    .replaceAll(' AND messages.attempt_id = given.attemptId', '')
    .replaceAll(/\s+AND messages\.first_attempt_extension_id IS NOT NULL/g, '')
    .replace(
      'messages.first_attempt_extension_id, messages.from',
      "coalesce(messages.first_attempt_extension_id, 'none'), messages.from",
    )
}
