import { isoTime } from '../../core/clock.ts'
import type { Gateway } from '../gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'

/** A problem of an extension, and what a person can do about it; a sentence each. */
export interface Trouble {
  reason: string
  fix: string
  /** When it began, epoch milliseconds. */
  since: number
}

type Known = Pick<Gateway, 'clock' | 'config' | 'directory' | 'provider' | 'tokens'>

/**
 * The most important problem of an extension; null if there is none. `silentSince`: since when it has no subscription that brings
 * inbound messages; null if it has one.
 */
export function troubleOf(known: Known, row: ExtensionRow, silentSince: number | null): Trouble | null {
  if (row.status === 'revoked') return revoked(row)
  if (row.status === 'refresh_failed') return unrefreshed(known, row)
  return refusal(known, row) ?? (silentSince === null ? null : notReceiving(known, silentSince))
}

/** The status of releases before 1.1.0 has no time: it began after the last refresh. */
const sinceOf = ({ statusSince, refreshedAt }: ExtensionRow): number => statusSince ?? refreshedAt

const revoked = (row: ExtensionRow): Trouble => ({
  reason: 'Its authorization has ended',
  fix: `Authorize it again with an invite link: sgw extensions invite --tenant ${row.tenantId}, or POST /v1/rc/invite-token.`,
  since: sinceOf(row),
})

function unrefreshed({ tokens, provider, config }: Known, row: ExtensionRow): Trouble {
  const failure = tokens.lastFailure(row)
  const cause = failure === null ? '' : `${provider.fixOf(failure, 'refresh', config.publicUrl)} `
  const at = row.nextRefreshAt === null ? '' : ` at ${isoTime(row.nextRefreshAt)}`
  const fix = `${cause}This is tried again by itself${at}.`
  return { reason: 'Its tokens could not be refreshed', fix, since: sinceOf(row) }
}

function refusal({ clock, config, directory, provider }: Known, row: ExtensionRow): Trouble | null {
  const standing = directory.refusals
    .list(clock.now())
    .find(({ tenantId, extensionId }) => tenantId === row.tenantId && extensionId === row.extensionId)
  if (standing === undefined) return null
  const { step, failure, since } = standing
  const codes = [failure.status, failure.code].filter((part) => part !== null).join(' ')
  return { reason: `${REFUSED[step]} (${codes})`, fix: provider.fixOf(failure, step, config.publicUrl), since }
}

const REFUSED = {
  refresh: 'The provider refused to refresh its tokens',
  authorization: 'The provider refused its authorization',
  extension: 'The provider refused to show it',
  numbers: 'The provider refused to list its phone numbers',
  messages: 'The provider refused to list its inbound messages',
  subscription: 'The provider refused its subscription, so its messages come up to 15 minutes late',
}

const notReceiving = ({ config }: Known, since: number): Trouble => ({
  reason: 'It has no active subscription, so its messages come up to 15 minutes late',
  fix: `The provider must be able to reach ${config.publicUrl}/v1/webhooks/provider; a missing subscription is made again by itself.`,
  since,
})
