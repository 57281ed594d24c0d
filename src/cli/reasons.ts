/** Why a message waits, in words for a person, and why several do. docs/after-sent.md explains each. */
const REASONS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  suspended: [
    'the tenant is suspended or has left: to send it, run sgw tenant activate TENANT',
    'the tenant is suspended or has left: to send them, run sgw tenant activate TENANT',
  ],
  scheduled: ['it is scheduled (sendAt)', 'they are scheduled (sendAt)'],
  restore: [
    'the database was restored from a backup: the gateway first looks up whether it was sent',
    'the database was restored from a backup: the gateway first looks up whether they were sent',
  ],
  reauthorization: [
    'the authorization of its extension cannot be refreshed: see sgw extensions list',
    'the authorization of their extension cannot be refreshed: see sgw extensions list',
  ],
  number_lookup: [
    'the gateway is looking up its number at the provider',
    'the gateway is looking up their number at the provider',
  ],
  reconciling: [
    'the provider gave no clear answer: the gateway is looking up whether it was sent',
    'the provider gave no clear answer: the gateway is looking up whether they were sent',
  ],
  provider_unreachable: both(
    'the provider cannot be reached, a proxy in between refuses the calls, or the provider answers 503: sgw doctor says which',
  ),
  provider_paused: both('the provider asked to wait'),
  order: [
    'earlier messages of its number or conversation go first',
    'earlier messages of their number or conversation go first',
  ],
  number_limit: ['its number has used its rate limit', 'their number has used its rate limit'],
  extension_limit: ['its extension has used its rate limit', 'their extension has used its rate limit'],
}

function both(text: string): [one: string, many: string] {
  return [text, text]
}

/** One line that says why a message, or `count` messages, wait and until when. */
export function reasonOf({ reason, until }: { reason: string; until?: string | undefined }, count = 1): string {
  const text = `${reason}: ${REASONS[reason]?.[count === 1 ? 0 : 1] ?? 'see docs/after-sent.md'}`
  return until === undefined ? text : `${text} (until ${shortTime(until)})`
}

/** `11-24 13:00:05`, UTC like every time of the API. */
export const shortTime = (iso: string): string => `${iso.slice(5, 10)} ${iso.slice(11, 19)}`

/** What a receiver most likely means by 401 or 403, and what to do; empty for another answer. */
export function refusalOf({
  statusCode,
  appId,
}: {
  statusCode?: number | null | undefined
  appId?: string | undefined
}): string {
  if (statusCode !== 401 && statusCode !== 403) return ''
  const cause = 'The receiver refuses the signature: it probably has another webhook secret.'
  return appId === undefined
    ? `${cause} The secret of a trigger is shown once: if you have lost it, delete the trigger (sgw trigger delete) and create it again.`
    : `${cause} sgw app rotate-webhook-secret ${appId} --yes prints a new one for it.`
}
