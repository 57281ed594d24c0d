import { isoTime } from '../../core/clock.ts'
import { DAY_MS } from '../../core/limits.ts'
import type { Gateway } from '../gateway.ts'
import { type ExtensionRow, hasNumbers } from '../../provider/directory.ts'
import { numbersOf } from '../../provider/inbound-source.ts'
import { commandToConnect } from '../../provider/refresh-policy.ts'
import { NO_SMS_NUMBER, type Step } from '../../provider/provider.ts'
import type { StandingRefusal } from '../../provider/refusals.ts'
import { decodeRefreshRefusal } from '../../provider/stored-refusals.ts'
import { failingCampaigns, withoutNumber } from './campaign-trouble.ts'

/** A problem of an extension, and what a person can do about it, one sentence each. */
export interface Trouble {
  /** `waits`: refused until the end of a pause that the provider requested. `paused`: for a long time, or by one pause after another. */
  kind:
    | 'revoked'
    | 'not_receiving'
    | 'unknown_numbers'
    | 'waits'
    | 'paused'
    | 'jwt_ends'
    | 'session_ends'
    | 'campaign'
    | Step
  reason: string
  fix: string
  /** For apps, which have no shell on the gateway's machine; absent if it is the same. */
  fixForApps?: string
  /** When it began, epoch milliseconds. */
  since: number
  /** What was refused; absent if nothing was. */
  step?: Step
  /** What is paused; absent if nothing is. */
  group?: (typeof PAUSED)[number]['group']
}

type Known = Pick<Gateway, 'clock' | 'config' | 'directory' | 'lifecycle' | 'provider' | 'quota' | 'subscriptions'>

/**
 * The most important problem of an extension; null if there is none. `silentSince`: when it lost the subscription that brings inbound
 * messages; null if it has one.
 */
export const troubleOf = (known: Known, row: ExtensionRow, silentSince: number | null): Trouble | null =>
  troublesOf(known, row, silentSince)[0] ?? null

/** All problems of an extension, the most important first. */
export function troublesOf(known: Known, row: ExtensionRow, silentSince: number | null): Trouble[] {
  if (row.status === 'revoked') return [revoked(known, row)]
  if (row.status === 'refresh_failed') return [unrefreshed(known, row)]
  const silent = silentSince === null ? [] : [notReceiving(known, silentSince)]
  const refusals = refusalsOf(known, row)
  const waits = refusals.filter(({ kind }) => kind === 'waits')
  const standing = refusals.filter(({ kind }) => kind !== 'waits').toSorted(sendsFirst)
  const areRefused = refusals.some(({ kind }) => kind === 'numbers')
  const numbers =
    row.numbersReadAt !== null || areRefused || hasNumbers(known.directory, row) ? [] : [unknownNumbers(row)]
  return [
    ...standing,
    ...numbers,
    ...failingCampaigns(known.directory, row).map((failing) => ({ kind: 'campaign' as const, ...failing })),
    ...pausesOf(known, row),
    ...waits,
    ...silent,
    ...endOfJwt(known, row),
    ...endOfSession(known, row),
  ]
}

/** A person needs some days to create a new JWT. */
export const JWT_WARNING_MS = 14 * DAY_MS

/** The JWT of a working extension expires soon, or has expired. RingCentral may let its session continue for a while. */
export function endOfJwt({ clock, config }: Pick<Known, 'clock' | 'config'>, row: ExtensionRow): Trouble[] {
  const { jwtExpiresAt } = row
  if (jwtExpiresAt === null || jwtExpiresAt - clock.now() > JWT_WARNING_MS) return []
  const at = isoTime(jwtExpiresAt)
  const reason =
    jwtExpiresAt > clock.now()
      ? `Its JWT expires on ${at}`
      : `Its JWT expired on ${at}, so the extension works only until RingCentral ends its session`
  return [
    {
      kind: 'jwt_ends',
      reason,
      fix: fixOfJwt(config, row),
      since: Math.max(jwtExpiresAt - JWT_WARNING_MS, row.connectedAt),
    },
  ]
}

/** Somebody must sign in again, which takes a minute. */
export const SESSION_WARNING_MS = 3 * DAY_MS

/** The account limits how long a session may last, even if tokens are refreshed. A JWT opens a new one. */
export function endOfSession({ clock }: Pick<Known, 'clock'>, row: ExtensionRow): Trouble[] {
  const { sessionEndsAt, jwt, connectedAt } = row
  if (jwt !== null || sessionEndsAt === null || sessionEndsAt - clock.now() > SESSION_WARNING_MS) return []
  const reason = `RingCentral ends its session on ${isoTime(sessionEndsAt)}, because the account limits how long a session may last`
  const fix = `Authorize it again before then, with an invite link: ${commandToConnect(row)}`
  const kind = 'session_ends'
  const since = Math.max(sessionEndsAt - SESSION_WARNING_MS, connectedAt)
  return [
    {
      kind,
      reason,
      since,
      fix: `${fix}. A JWT needs no login: sgw extensions connect-jwt.`,
      fixForApps: `${fix}, or POST /v1/rc/invite-token.`,
    },
  ]
}

const fixOfJwt = ({ provider }: Known['config'], row: ExtensionRow): string =>
  `Make another one in the developer console: ${commandToConnect(row)}, or ${GIVE_JWT[provider.jwtVariable]} and restart.`

/** How to give the next start a new JWT. */
const GIVE_JWT = {
  RC_JWT: 'set RC_JWT',
  RC_JWT_FILE: 'write it into the file that RC_JWT_FILE names',
} as const

/** Releases before 1.1.0 stored no time for the status: it began after the last refresh. */
const sinceOf = ({ statusSince, refreshedAt }: ExtensionRow): number => statusSince ?? refreshedAt

function revoked({ clock, config }: Known, row: ExtensionRow): Trouble {
  const of = { kind: 'revoked', since: sinceOf(row) } as const
  if (row.jwt !== null) {
    const { jwtExpiresAt } = row
    const ended = jwtExpiresAt !== null && jwtExpiresAt <= clock.now() ? `It expired on ${isoTime(jwtExpiresAt)}. ` : ''
    return { ...of, reason: 'Its JWT is no longer accepted', fix: `${ended}${fixOfJwt(config, row)}` }
  }
  const fix = `Authorize it again with an invite link: ${commandToConnect(row)}`
  return {
    ...of,
    reason: 'Its authorization has ended',
    fix: `${fix}.`,
    fixForApps: `${fix}, or POST /v1/rc/invite-token.`,
  }
}

function unrefreshed({ provider, config }: Known, row: ExtensionRow): Trouble {
  const last = decodeRefreshRefusal(row.refreshRefusal)
  const cause = last === null ? '' : `${provider.fixOf(last.failure, last.step, config.publicUrl)} `
  const at = row.nextRefreshAt === null ? '' : ` at ${isoTime(row.nextRefreshAt)}`
  // The client's variables are read only at a start.
  const next =
    last?.failure.oauthError === 'invalid_client' ? 'Then restart.' : `The gateway tries again on its own${at}.`
  const fix = `${cause}${next}`
  return { kind: 'refresh', reason: 'Its tokens could not be refreshed', fix, since: sinceOf(row) }
}

const sendsFirst = (one: Trouble, other: Trouble): number => Number(other.step === 'send') - Number(one.step === 'send')

const refusalsOf = (known: Known, row: ExtensionRow): Trouble[] =>
  known.directory.refusals.of(row, known.clock.now()).map((standing) => refusal(known, row, standing))

function refusal({ config, provider, directory }: Known, row: ExtensionRow, standing: StandingRefusal): Trouble {
  const { step, failure, since } = standing
  const fix = provider.fixOf(failure, step, config.publicUrl, commandToConnect(row))
  const kind = failure.reason === 'rate_limited' ? 'waits' : step
  if (step === 'threads' && failure.reason === 'rejected')
    return {
      kind,
      reason: `Inbound texts to ${threadedNumbers(directory, row)} go to RingCentral's Shared Inbox, which this app may not read`,
      fix,
      since,
      step,
    }
  if (failure.code === NO_SMS_NUMBER)
    return { kind, since, step, ...withoutNumber(directory, row, { reason: failure.message, fix }) }
  if (failure.status === null) return { kind, reason: failure.message, fix, since, step }
  const codes = [failure.status, failure.code].filter((part) => part !== null).join(' ')
  const by = failure.reason === 'intercepted' ? 'Something on the way to the provider' : 'The provider'
  return { kind, reason: `${by} refused ${REFUSED[step]} (${codes})`, fix, since, step }
}

/** The caller has read the tenant. */
function threadedNumbers(directory: Known['directory'], row: ExtensionRow): string {
  const tenant = directory.known(row.tenantId)
  const rows =
    tenant === undefined ? [] : numbersOf(tenant, row).filter(({ inboundSource }) => inboundSource === 'threads')
  return rows.map(({ number }) => number).join(', ') || 'its shared numbers'
}

const REFUSED = {
  refresh: 'to refresh its tokens',
  authorization: 'its authorization',
  jwt: 'its JWT',
  extension: 'to show it',
  numbers: 'to list its phone numbers',
  messages: 'to list its inbound messages',
  threads: 'to list its message threads',
  send: 'to pass its messages on',
  subscription: 'its subscription, so its messages arrive up to a minute late',
}

const unknownNumbers = ({ connectedAt }: ExtensionRow): Trouble => ({
  kind: 'unknown_numbers',
  reason: 'Its phone numbers could not be read yet, so it sends nothing',
  fix: 'They are read again every 10 minutes; sgw doctor says whether RingCentral answers.',
  since: connectedAt,
})

/** A longer pause, or a series of pauses for as long, is more than a burst of messages. */
const LONG_PAUSE_MS = 15 * 60_000

function pausesOf({ quota }: Known, { extensionId }: ExtensionRow): Trouble[] {
  return PAUSED.flatMap(({ group, doing }) => {
    const pause = quota.standingPause(extensionId, group)
    if (pause === null || pause.lastedMs < LONG_PAUSE_MS) return []
    const reason = `RingCentral does not let it ${doing}: it asks to wait, or refuses calls`
    const fix = "Other programs that use this extension share its limit. If there are none, ask RingCentral's support."
    return [{ kind: 'paused', reason, fix, since: pause.since, group }]
  })
}

/** Pauses of attachments affect nothing else. */
export const PAUSED = [
  { group: 'medium', doing: 'send' },
  { group: 'light', doing: 'read messages and subscriptions' },
  { group: 'back_fill', doing: 'read its inbound messages' },
  { group: 'threads', doing: 'read its message threads' },
] as const

const notReceiving = ({ lifecycle, subscriptions: { advice } }: Known, since: number): Trouble => ({
  kind: 'not_receiving',
  reason: lifecycle.working
    ? 'It has no active subscription, so its messages arrive up to a minute late'
    : 'No server is running, so it receives nothing',
  fix: lifecycle.working
    ? `${advice.needs.replace(/^t/, 'T')}; ${advice.byItself}.`
    : 'Start the server: it fetches what came in the meantime.',
  since,
})
