import { z } from 'zod'
import { MIGRATIONS } from '../../db/migrations.ts'
import { Identity, type LeaseContent } from './lease-object.ts'

/** A waiting gateway, as it announces itself. */
export const Candidate = Identity.extend({
  version: z.string().default('1.1.0'),
  /** The ids of all keys of ENCRYPTION_KEYS, the newest first. */
  keyIds: z.array(z.string()),
  /** Why its file and the newest copy are two histories; null if they are not. */
  fork: z.string().nullable().default(null),
})
export type Candidate = z.infer<typeof Candidate>

/** Why a configuration cannot share the lease; null if it can. Having the key as an older one is enough. */
export function differenceOf({ url, keyIds }: Candidate, holder: LeaseContent): string | null {
  if (url !== holder.url) return `PUBLIC_URL is ${url}, but ${holder.url} at the gateway that holds the lease`
  if (!keyIds.includes(holder.keyId))
    return `ENCRYPTION_KEYS lacks the newest key (${holder.keyId}) of the gateway that holds the lease`
  return null
}

/** Why a standby would not take over, or would work differently; null if there is no such reason. */
export const whyUnfit = (standby: Candidate, holder: LeaseContent): string | null =>
  standby.fork ?? differenceOf(standby, holder) ?? ageOf(standby, holder) ?? settingsOf(standby, holder)

function ageOf({ schema }: Candidate, holder: LeaseContent): string | null {
  const [own, needed] = [positionOf(schema), positionOf(holder.schema)]
  // A migration that this program does not know is newer; release 1.1.0 does not say what it has.
  const isOlder = needed === -1 || schema === '' || (own !== -1 && own < needed)
  return isOlder
    ? `it is an older version, without migration ${holder.schema}: install the version of the gateway that holds the lease`
    : null
}

const positionOf = (schema: string): number => MIGRATIONS.findIndex(({ name }) => name === schema)

/** If a release does not report these, they count as equal. */
function settingsOf({ clientId, retention }: Candidate, holder: LeaseContent): string | null {
  if (holder.clientId === '') return null
  if (clientId !== holder.clientId) return 'RC_CLIENT_ID differs from that of the gateway that holds the lease'
  return retention === holder.retention
    ? null
    : `MESSAGE_RETENTION_DAYS and EVENT_RETENTION are ${retention}, but ${holder.retention} at the gateway that holds the lease`
}
