/** Why a message waits, for a person. docs/waiting.md explains each. */
const REASONS: Readonly<Record<string, string>> = {
  suspended: 'the tenant is suspended or has left: sgw tenant activate TENANT would send it',
  scheduled: 'it is scheduled (sendAt)',
  restore: 'the database was restored from a backup: what became of it is looked up first',
  reauthorization: 'the authorization of its extension cannot be refreshed: see sgw extensions list',
  number_lookup: 'its number is looked up at the provider',
  reconciling: 'the provider gave no clear answer: what became of it is looked up',
  provider_unreachable: 'the provider does not answer, or answers 503: sgw doctor says which',
  provider_paused: 'the provider asked to wait',
  order: 'earlier messages of its number or conversation go first',
  number_limit: 'its number has used its rate limit',
  extension_limit: 'its extension has used its rate limit',
}

/** One line about why a message waits and until when. */
export function reasonOf({ reason, until }: { reason: string; until?: string | undefined }): string {
  const text = `${reason}: ${REASONS[reason] ?? 'see docs/waiting.md'}`
  return until === undefined ? text : `${text} (until ${shortTime(until)})`
}

/** `11-24 13:00:05`, UTC like every time of the API. */
export const shortTime = (iso: string): string => `${iso.slice(5, 10)} ${iso.slice(11, 19)}`
