import { describe, expect, test } from 'bun:test'
import { END_FAILED, IS_OPEN, END } from '../../src/messages/sending/attempt-rows.ts'
import { type MessageListing, MessageListings } from '../../src/provider/message-listings.ts'
import type { CallResult } from '../../src/provider/extension-calls.ts'
import { Entries } from '../../src/messages/sending/entries.ts'
import { NumberQueue } from '../../src/messages/sending/number-queue.ts'
import { Scheduler } from '../../src/messages/sending/scheduler.ts'
import { ExtensionTurns } from '../../src/messages/sending/extension-turns.ts'
import { FAIR, MIXED, type Profile } from './scenario.ts'
import { report, runBatch } from './seeds.ts'
import type { Statement } from './disk.ts'
import type { Weakening } from './stage.ts'

/** A missing rule must lead to a violation within this many seeds. */
const SEEDS = 2000
/** The process crashes often, and its database is behind a network: a write under way may be performed later. */
const LATE_WRITES: Profile = {
  faults: { crash_writing: 80, pause: 10 },
  fates: { rejected: 35, lost: 45, slow: 20 },
  messages: [1, 3],
  activeMs: [60_000, 120_000],
  lateWrites: true,
}

const RULES: Record<string, { weakening: Weakening; profile?: Profile; found: RegExp }> = {
  'an attempt row before the call': {
    // The rows of open attempts are lost in a crash, as if they had been only in memory.
    weakening: { atCrash: (bootId) => forgetOpenAttempts(bootId) },
    // Who does not know that a text has begun may begin a later one of its conversation, or believe the answer to the second call.
    found: /accepted by the provider|which no message is bound to|within 60 s|overtook|failed with/,
  },
  'one open attempt per conversation, in the database and in memory': {
    weakening: {
      schema: [
        'DROP INDEX send_attempts_open',
        'CREATE INDEX send_attempts_open ON send_attempts (from_number, to_number) WHERE closed_at IS NULL',
      ],
      patch: () => replaced(Entries.prototype, 'isBusy', () => false),
    },
    // A second attempt may also delete the job of the first one's message.
    found: /overtook|began although|accepted by the provider|which no message is bound to|still sending at the end/,
  },
  'the order of a queue': {
    weakening: {
      patch: () =>
        replaced(NumberQueue.prototype, 'next', function (this: NumberQueue, isHeld) {
          return this.waiting.findLast((entry) => !isHeld(entry)) ?? null
        }),
    },
    found: /overtook|began although/,
  },
  'turns of the queues of an extension': {
    weakening: { patch: () => replaced(Scheduler.prototype, 'extension', extensionWithoutTurns) },
    profile: FAIR,
    found: /are fair for position/,
  },
  'the settle time': {
    weakening: { config: { reconcileSettleMs: 0, reconcileSettle500Ms: 0 } },
    found: /overtook|accepted by the provider|which no message is bound to/,
  },
  'listings of every owner, and absence as a proof only where they have shown a message': {
    weakening: {
      schema: ['INSERT', 'UPDATE OF owner_id'].map(
        (change, at) => `CREATE TRIGGER owners_forgotten_${at} AFTER ${change} ON phone_numbers BEGIN
          UPDATE phone_numbers SET owner_id = NULL WHERE tenant_id = NEW.tenant_id AND number = NEW.number; END`,
      ),
      patch: () => replaced(MessageListings.prototype, 'list', listOwn),
    },
    found: /accepted by the provider|which no message is bound to/,
  },
  'results that count only while their attempt is open': {
    weakening: {
      patch: () => {
        const statements = END.statements.map((sql) => sql.replaceAll(IS_OPEN, 'true'))
        const sent = replaced(END as { statements: readonly string[] }, 'statements', statements)
        const failed = replaced(END_FAILED as { statements: readonly string[] }, 'statements', statements)
        return () => (sent(), failed())
      },
    },
    profile: LATE_WRITES,
    // A late write may also delete the job of a message that another process has begun again, or free its conversation.
    found:
      /accepted by the provider|which no message is bound to|still queued at the end|was published while|began although/,
  },
}

describe('every rule is needed', () => {
  for (const [name, { weakening, profile, found }] of Object.entries(RULES)) {
    test(`without ${name}, a guarantee is violated`, async () => {
      const { seeds, failure } = await runBatch(numbers(SEEDS), { weakening, profile: profile ?? MIXED })
      expect(failure?.violation).toMatch(found)
      if (process.env['SIM_LOG'] !== undefined && failure !== null)
        process.stdout.write(`${seeds} seeds\n${report(failure)}\n`)
    }, 60_000)
  }

  test('with all rules, late writes of a dead process violate no guarantee', async () => {
    const { failure } = await runBatch(numbers(SEEDS / 4), { profile: LATE_WRITES })
    expect(failure === null ? '' : report(failure)).toBe('')
  }, 60_000)
})

/** Asks for the extension's own messages only. */
async function listOwn(
  this: MessageListings,
  ...[key, begin]: Parameters<MessageListings['list']>
): Promise<CallResult<MessageListing>> {
  const { extensionCalls, provider } = this.context
  const listed = await extensionCalls.make(key, 'light', (token) => provider.listMessages(token, begin()))
  return listed.type === 'ok' ? { type: 'ok', value: { records: listed.value, ofEveryOwner: false } } : listed
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

/** Replaces a member of an object. Returns a function that restores it. */
function replaced<Owner extends object, Name extends keyof Owner>(
  owner: Owner,
  name: Name,
  by: Owner[Name],
): () => void {
  const before = owner[name]
  owner[name] = by
  return () => void (owner[name] = before)
}

/** A set in which an added queue moves to the front. */
class FirstQueues extends Set<NumberQueue> {
  override add(queue: NumberQueue): this {
    const others = [...this].filter((other) => other !== queue)
    this.clear()
    super.add(queue)
    for (const other of others) super.add(other)
    return this
  }
}

const withoutTurns = new WeakMap<Scheduler, Map<string, ExtensionTurns>>()

function extensionWithoutTurns(this: Scheduler, extensionId: string): ExtensionTurns {
  const known = withoutTurns.get(this) ?? new Map<string, ExtensionTurns>()
  withoutTurns.set(this, known)
  const extension =
    known.get(extensionId) ?? Object.assign(new ExtensionTurns(extensionId), { queues: new FirstQueues() })
  known.set(extensionId, extension)
  return extension
}

function forgetOpenAttempts(bootId: string): Statement[] {
  const open = 'SELECT message_id FROM send_attempts WHERE closed_at IS NULL AND boot_id = ?1'
  return [
    {
      sql: `UPDATE messages SET status = iif(EXISTS (SELECT 1 FROM send_attempts AS earlier
          WHERE earlier.message_id = messages.id AND closed_at IS NOT NULL), 'sending', 'queued')
        WHERE id IN (${open})`,
      args: [bootId],
    },
    { sql: 'DELETE FROM send_attempts WHERE closed_at IS NULL AND boot_id = ?1', args: [bootId] },
  ]
}
