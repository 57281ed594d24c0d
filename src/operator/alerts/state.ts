import { eq, ne } from 'drizzle-orm'
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import { facts } from '../../db/schema/index.ts'
import { GATEWAY } from '../conditions/condition.ts'
import { CONDITIONS } from '../conditions/table.ts'

/** In the order of posts. */
export const ALERT_NAMES = CONDITIONS.map(({ alert }) => alert)

const Detail = z.record(z.string(), z.union([z.string(), z.number(), z.null()]))

/** A `FiringAlert`, and whether it was posted or waits to be posted; false if it began without `ALERT_URL`. */
const Firing = z
  .object({
    alert: z.enum(ALERT_NAMES),
    subject: z.string(),
    /** In states of release 1.1.0, which have no `what` and no `fix`. */
    text: z.string().default(''),
    what: z.string().optional(),
    /** Empty in states of earlier releases, until the next check. */
    fix: z.string().default(''),
    overText: z.string(),
    detail: Detail,
    since: z.number(),
    isPosted: z.boolean().default(true),
  })
  .transform(({ text, what = text.replace(/\.$/, ''), ...firing }) => ({
    ...firing,
    what,
    subject: subjectNow(firing),
  }))
export type Firing = z.infer<typeof Firing>

/** Earlier releases had a subject for each condition of the gateway itself. */
const GATEWAYS_OWN = ['database', 'ENCRYPTION_KEYS', 'client', 'RC_JWT', 'provider', 'backup', 'standby', 'queue']

function subjectNow({ alert, subject }: { alert: string; subject: string }): string {
  if (alert === 'clock_wrong') return subject === 'clock' ? 'provider' : subject
  return GATEWAYS_OWN.includes(subject) ? GATEWAY : subject
}

/** A POST that has not succeeded yet. Posts of one alert and subject are made in order. */
const Post = z.object({
  /** The key of the alert: its name and subject. Stored states have it under this name. */
  thing: z.string(),
  /** JSON. */
  body: z.string(),
  attempts: z.int(),
  /** Steady time. */
  dueAt: z.number(),
})
export type Post = z.infer<typeof Post>

const Mute = z.object({
  alert: z.string(),
  subject: z.string(),
  until: z.number().nullable(),
  by: z.enum(['session', 'cli']),
})

const State = z.object({
  firing: z.array(Firing),
  posts: z.array(Post),
  /** Absent in states of earlier releases. */
  mutes: z.array(Mute).default([]),
})

/** The complete state of the alerts. It is one row of `facts`, small, and written only when it changes. */
export type AlertState = z.infer<typeof State>

const ALERTS_FACT = 'alerts'

/** Loads the state that an earlier process stored. An unreadable one counts as empty. */
export async function loadState({ orm }: Pick<Database, 'orm'>): Promise<AlertState> {
  const [stored] = await orm.select().from(facts).where(eq(facts.name, ALERTS_FACT))
  const read = stored === undefined ? null : State.safeParse(parsed(stored.value))
  return read?.data ?? { firing: [], posts: [], mutes: [] }
}

/** Rejects while the storage fails. */
export async function storeState({ orm }: Pick<Database, 'orm'>, state: AlertState): Promise<void> {
  const value = JSON.stringify(state)
  await orm
    .insert(facts)
    .values({ name: ALERTS_FACT, value })
    .onConflictDoUpdate({ target: facts.name, set: { value }, setWhere: ne(facts.value, value) })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
