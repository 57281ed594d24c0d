import type { App, Overview, OverviewDestination, Trigger } from '../../../client/client.ts'
import { count, duration, rowTime } from '../state/clock.ts'

/** A webhook destination: an app or a trigger, with the last day's figures if it was used. */
export interface Destination {
  id: string
  kind: 'app' | 'trigger'
  name: string
  url: string
  /** Null if nothing was posted there in the last day. */
  usage: OverviewDestination | null
  /** Whether webhooks are still posted there. */
  isInUse: boolean
  /** Of the figures. */
  until: string
}

export interface Sources {
  overview: Overview
  apps: readonly App[]
  triggers: readonly Trigger[]
}

/** The figures with the current addresses: the last used address may have been a different one. */
export const withAddresses = (overview: Overview, destinations: readonly Destination[]): Overview => ({
  ...overview,
  destinations: destinations.flatMap(({ usage }) => usage ?? []),
})

/** All destinations that are in use or were used in the last day; failing ones first, then by name. */
export function destinationsOf({ overview, apps, triggers }: Sources): Destination[] {
  const usages = new Map(overview.destinations.map((usage) => [usage.appId ?? usage.triggerId ?? usage.url, usage]))
  const inUse = [
    ...apps.flatMap(({ appId: id, name, webhookUrl: url, isActive }) =>
      isActive && url !== null ? { id, kind: 'app' as const, name, url } : [],
    ),
    ...triggers.map(({ triggerId: id, callbackUrl: url }) => ({ id, kind: 'trigger' as const, name: 'Trigger', url })),
  ].map((each) => {
    const usage = usages.get(each.id)
    usages.delete(each.id)
    return {
      ...each,
      usage: usage === undefined ? null : { ...usage, url: each.url },
      isInUse: true,
      until: overview.to,
    }
  })
  const names = new Map(apps.map(({ appId, name }) => [appId, name]))
  const left = [...usages].map(([id, usage]) => {
    const { kind, url } = usage
    return { id, kind, name: names.get(id) ?? 'Removed trigger', url, usage, isInUse: false, until: overview.to }
  })
  return [...inUse, ...left].toSorted(
    (a, b) =>
      troubleIn(b) - troubleIn(a) ||
      (a.usage?.failingSince ?? '').localeCompare(b.usage?.failingSince ?? '') ||
      Number(b.isInUse) - Number(a.isInUse) ||
      a.name.localeCompare(b.name) ||
      a.id.localeCompare(b.id),
  )
}

/** The number that the heading's fact counts. */
const troubleIn = ({ usage }: Destination): number =>
  usage === null ? 0 : usage.neverArrived || (usage.failingSince === null ? 0 : usage.failures)

export const isTroubled = (destination: Destination): boolean => troubleIn(destination) > 0

/** How a destination is doing, in a few words. What the heading already says (`isSaid`) is not repeated. */
export function stateText({ usage, isInUse }: Destination, now: number, isSaid = false): string {
  if (!isInUse) return 'no webhooks are posted there now'
  if (usage === null) return 'nothing posted in 24 hours'
  const { success, failed, failures, failingSince, lastStatusCode, neverArrived } = usage
  const lost = neverArrived === 0 ? '' : `${count(neverArrived)} never arrived`
  if (failingSince !== null && !isSaid)
    return `${lastStatusCode === undefined ? 'cannot be reached' : `answers ${lastStatusCode}`} since ${rowTime(failingSince, now)}, ${lost || `${count(failures)} ${failures === 1 ? 'attempt' : 'attempts'} failed`}`
  if (lost !== '' && !isSaid) return `${lost}, since ${rowTime(usage.neverArrivedSince ?? '', now)}`
  if (success + failed === 0) return 'nothing posted in 24 hours'
  return `${count(success)} delivered${failed === 0 ? '' : `, ${count(failed)} failed`} in 24 hours`
}

/** `95 % within 840 ms`; '' if nothing was posted. */
export const speedText = ({ usage }: Destination): string =>
  usage === null || usage.p95Ms === null ? '' : `95 % within ${duration(usage.p95Ms)}`

/** The heading while nothing fails. */
export function fineText(destinations: readonly Destination[] | null): string {
  if (destinations === null) return 'Webhooks'
  const inUse = destinations.filter(({ isInUse }) => isInUse)
  if (inUse.length === 0) return 'No webhook address is set.'
  const sum = (of: 'success' | 'failed'): number => inUse.reduce((all, { usage }) => all + (usage?.[of] ?? 0), 0)
  const [success, failed] = [sum('success'), sum('failed')]
  if (success + failed === 0) return 'No webhooks in 24 hours.'
  const used = inUse.filter(({ usage }) => usage !== null && usage.success + usage.failed > 0).length
  const who = used === 1 ? 'The destination answers' : `All ${used} destinations answer`
  return failed === 0
    ? `${who}: ${count(success)} delivered in 24 hours, none failed.`
    : `${who} now; ${count(failed)} of ${count(success + failed)} attempts failed in 24 hours.`
}
