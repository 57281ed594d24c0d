import type { ExtensionHealth, Overview, OverviewDestination } from '../../../client/client.ts'
import { waitingText } from '../messages/wait-words.ts'
import { count, rowTime } from '../state/clock.ts'
import type { Standing } from '../state/standing.ts'
import type { KnownAlert } from '../state/alert.ts'
import { type Fact, KINDS, type Part } from './fact.ts'

/** What needs attention, from the gateway's data about a tenant and the alerts about it. `now` in milliseconds. */
export function factsOf(
  { overview, extensions }: Pick<Standing, 'overview' | 'extensions'>,
  now: number,
  alerts: readonly KnownAlert[],
): Fact[] {
  const facts = [...extensionFacts(extensions), waitingFact(overview, extensions, now), failureFact(overview)]
  return [...told(facts, alerts), ...webhookFacts(overview, now, alerts)]
}

/** What is wrong with the destinations of webhooks. */
export const webhookFacts = ({ destinations }: Overview, now: number, alerts: readonly KnownAlert[]): Fact[] =>
  told(
    destinations.map((destination) => webhookFact(destination, now)),
    alerts,
  )

/** Facts with the alerts about them. */
const told = (facts: readonly (Fact | null)[], alerts: readonly KnownAlert[]): Fact[] =>
  facts.flatMap((fact) => (fact ? { ...fact, alerts: alerts.filter(({ factKey }) => factKey === fact.key) } : []))

/** The alert of a tenant none of whose extensions can send. */
export const NONE_CAN_SEND = 'no_extension_can_send'

/** The key of the fact about everything that waits. */
export const WAITING = 'waiting'

/** What is wrong with the extensions, or that there are none. */
export const extensionFacts = (extensions: readonly ExtensionHealth[]): Fact[] =>
  extensions.length === 0 ? [NOT_CONNECTED] : extensions.flatMap((each) => extensionFact(each) ?? [])

const base = { advice: '', since: null, action: null } as const

const NOT_CONNECTED: Fact = {
  ...base,
  key: 'not connected',
  ...KINDS.stopped,
  parts: ['No number is connected yet'],
  action: { type: 'invite' },
  count: 1,
}

/** Whether an extension can neither send nor receive. */
export const isStopped = ({ status }: Pick<ExtensionHealth, 'status'>): boolean => status !== 'active'

/** Each number once: that of a call queue is in the list of each of its recipients. */
export const numbersOf = (extensions: readonly Pick<ExtensionHealth, 'phoneNumbers'>[]): string[] => [
  ...new Set(extensions.flatMap(({ phoneNumbers }) => phoneNumbers)),
]

/** Whether an extension works but has no number: RingCentral allows none of its numbers to text. */
export const isNumberless = ({ reason, phoneNumbers }: ExtensionHealth): boolean =>
  reason === null && phoneNumbers.length === 0

/** Whether RingCentral has paused it for now. `now` in milliseconds. */
export const isPaused = ({ pausedUntil }: ExtensionHealth, now: number): boolean =>
  pausedUntil !== null && Date.parse(pausedUntil) > now

function extensionFact({ extensionId, extensionNumber, ...health }: ExtensionHealth): Fact | null {
  const { status, reason, since, fix, phoneNumbers } = health
  if (reason === null) return null
  const stopped = isStopped(health)
  const isByJwt = health.connectedBy === 'jwt'
  const number = extensionNumber ?? extensionId
  const name: Part = { text: `Extension ${number}`, view: 'numbers', params: { id: extensionId } }
  const [first] = phoneNumbers
  const whose: Part[] =
    first === undefined
      ? ['it']
      : [{ number: first }, phoneNumbers.length > 1 ? ` and ${phoneNumbers.length - 1} more` : '']
  return {
    ...base,
    key: extensionId,
    ...(stopped ? KINDS.stopped : KINDS.waits),
    parts:
      status === 'revoked'
        ? [name, ' was revoked: ', ...whose, ' cannot send or receive']
        : [name, `: ${midSentence(reason)}`],
    advice: status === 'revoked' ? adviceIfRevoked(health) : (fix ?? ''),
    since,
    // A login cannot fix an extension of an app that uses JWTs.
    action: stopped && !isByJwt ? { type: 'authorize', extension: `extension ${number}` } : null,
    count: 1,
  }
}

/** The button says what to do about a link. The fix of a JWT says "another one", so its reason comes first. */
const adviceIfRevoked = ({
  connectedBy,
  reason,
  fix,
}: Pick<ExtensionHealth, 'connectedBy' | 'reason' | 'fix'>): string =>
  connectedBy === 'jwt' ? `${reason ?? ''}. ${fix ?? ''}` : 'Its messages fail. Authorize it, then send them again.'

/** All waiting messages, with the reason of most of them. The link opens the same number of rows. */
function waitingFact(overview: Overview, extensions: readonly ExtensionHealth[], now: number): Fact | null {
  const waits = waitsOf(overview)
  const [first] = waits
  if (first === undefined) return null
  const total = countOf(waits)
  // A wait of several extensions is over when the last of them continues.
  const same = waits.filter(({ reason }) => reason === first.reason)
  const numbers = same.flatMap(
    (wait) => extensions.find((each) => each.extensionId === wait.extensionId)?.extensionNumber ?? [],
  )
  const until = same
    .map((wait) => wait.until ?? '')
    .toSorted()
    .at(-1)
  const why = waitingText(
    until ? { ...first, until } : first,
    now,
    numbers[0] && `extension${numbers[1] ? 's' : ''} ${numbers.join(' and ')}`,
  )
  return {
    ...base,
    key: WAITING,
    ...KINDS.waits,
    parts: [
      {
        text: `${count(total)} ${total === 1 ? 'message waits' : 'messages wait'}`,
        view: 'messages',
        params: { state: 'waiting' },
      },
      `: ${why}`,
    ],
    since: waits.map(({ since }) => since).toSorted()[0] ?? null,
    count: total,
  }
}

/** A destination that fails, or whose deliveries never arrived before it answered again. */
function webhookFact(destination: OverviewDestination, now: number): Fact | null {
  const { url, failures, failingSince: since, lastStatusCode, neverArrived, neverArrivedSince } = destination
  if ((since ?? neverArrivedSince) === null) return null
  const isLost = neverArrived > 0
  const params = { ...whereOf(destination), state: isLost ? 'never_arrived' : '' }
  const what = isLost
    ? `${count(neverArrived)} ${neverArrived === 1 ? 'delivery' : 'deliveries'} never arrived`
    : `${count(failures)} ${failures === 1 ? 'attempt' : 'attempts'} failed`
  const oldest = `${neverArrived === 1 ? '' : ', the oldest'} since ${rowTime(neverArrivedSince ?? now, now)}`
  const how = lastStatusCode === undefined ? 'cannot be reached' : `answers ${lastStatusCode}`
  return {
    ...base,
    key: params.id,
    ...KINDS.webhooks,
    parts: [
      { text: new URL(url).host, view: 'webhooks', params },
      since === null ? ` answers again. ${what}${oldest}` : ` ${how}: ${what}`,
    ],
    advice: nextAttemptText(destination, now),
    since,
    action: { type: 'destination', params },
    count: neverArrived || failures,
  }
}

/** What the gateway does automatically about failures there. `now` in milliseconds. */
export function nextAttemptText({ nextAttemptAt }: Pick<OverviewDestination, 'nextAttemptAt'>, now: number): string {
  if (nextAttemptAt === undefined) return 'Failed deliveries are not tried again automatically.'
  return Date.parse(nextAttemptAt) <= now ? 'It is tried again now.' : `Next attempt at ${rowTime(nextAttemptAt, now)}.`
}

/** Opens a destination with its attempts. */
export const whereOf = ({ appId, triggerId }: Pick<OverviewDestination, 'appId' | 'triggerId'>) => ({
  app: appId ?? '',
  trigger: triggerId ?? '',
  id: appId ?? triggerId ?? '',
})

/** Counts by the time of the event, for which the list has no filter, so the words are links but the counts are not. */
function failureFact(overview: Overview): Fact | null {
  const { totals, previous } = overview
  const [failed, before] = [failedIn(totals), failedIn(previous)]
  if (failed + totals.undelivered === 0) return null
  const all = ` of ${count(accountedIn(overview))} `
  const link = (text: string, state: string): Part => ({ text, view: 'messages', params: { state, after: '24h' } })
  const usual = before > 0 && failed > before ? `, ${count(before)} the day before` : ''
  const parts: Part[] =
    failed === 0
      ? [`${count(totals.undelivered)}${all}`, link('not delivered', 'undelivered'), ' in 24 hours']
      : [`${count(failed)}${all}`, link('failed', 'failed'), ` in 24 hours${usual}`]
  if (failed > 0 && totals.undelivered > 0)
    parts.push(`; ${count(totals.undelivered)} `, link('not delivered', 'undelivered'))
  return {
    ...base,
    key: 'failures',
    ...KINDS.failures,
    parts,
    count: failed + totals.undelivered,
  }
}

/** Whether failures are few, and no more than the day before. */
export const FEW = 0.05

export function areFailuresUsual(overview: Overview): boolean {
  const [bad, before] = [overview.totals, overview.previous].map((totals) => failedIn(totals) + totals.undelivered)
  return (bad ?? 0) <= (before ?? 0) && (bad ?? 0) < FEW * accountedIn(overview)
}

/** The waits that are trouble, the most frequent first. A scheduled message is not trouble. */
export const waitsOf = ({ waiting }: Overview): Overview['waiting'] =>
  waiting.filter(({ reason }) => reason !== 'scheduled').toSorted((a, b) => b.count - a.count)

export const countOf = (waits: Overview['waiting']): number => waits.reduce((sum, wait) => sum + wait.count, 0)

/** Failed messages. A cancelled message has the status, but is not trouble. */
export const failedIn = ({ failed, cancelled }: Overview['totals']): number => failed - cancelled

/** The base of percentages: accepted messages, except scheduled and cancelled ones. */
export function accountedIn({ totals, waiting }: Overview): number {
  const scheduled = countOf(waiting.filter(({ reason }) => reason === 'scheduled'))
  return Math.max(totals.accepted - scheduled - totals.cancelled, failedIn(totals) + totals.undelivered)
}

export const midSentence = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '')
