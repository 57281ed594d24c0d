import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ExtensionHealth, Overview } from '../../../client/client.ts'
import { troubles } from '../frame/views.ts'
import { client } from '../state/caller.ts'
import { type LiveEvent, onEvent } from '../state/live.ts'
import type { ListRow } from './row.ts'
import { isCancelled } from './words.ts'

/** The last day's figures, and how the extensions are. */
export interface Standing {
  overview: Overview
  extensions: readonly ExtensionHealth[]
  /** When they were asked for, in milliseconds. */
  readAt: number
}

/** Both are read again after events, at most this often; soon while there are no messages, and after the first trouble. */
const READ_EVERY_MS = 30_000
const READ_FIRST_MS = 1000

/** How things stand; null until it is known. */
export function useStanding(): Standing | null {
  const standing = useSignal<Standing | null>(null)
  const sgw = client.value
  useEffect(() => {
    if (sgw === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let readAt = -Infinity
    const read = async (): Promise<void> => {
      timer = undefined
      readAt = Date.now()
      const [overview, extensions] = await Promise.all([
        sgw.overview(24).catch(() => null),
        sgw.connection.health().catch(() => standing.peek()?.extensions ?? []),
      ])
      if (overview === null) return
      standing.value = { overview, extensions, readAt }
      noteTrouble(overview)
    }
    const ignore = onEvent((event) => {
      const isSoon = isEmpty(standing.peek()) || (isBad(event) && isFine(standing.peek()))
      if (isSoon) clearTimeout(timer)
      else if (timer !== undefined) return
      timer = setTimeout(() => void read(), Math.max(READ_FIRST_MS, isSoon ? 0 : readAt + READ_EVERY_MS - Date.now()))
    })
    void read()
    return () => {
      ignore()
      clearTimeout(timer)
    }
  }, [sgw])
  return standing.value
}

const isEmpty = (standing: Standing | null): boolean =>
  standing !== null && standing.overview.totals.accepted + standing.overview.totals.received === 0

const isFine = (standing: Standing | null): boolean =>
  standing !== null && failedIn(standing.overview.totals) + standing.overview.totals.undelivered === 0

const isBad = (event: LiveEvent): boolean =>
  (event.type === 'sms_status' && event.status === 'failed' && !isCancelled(event.error)) ||
  (event.type === 'sms_delivery' && event.deliveryStatus === 'undelivered')

/** The waits that are trouble, the most frequent first. A scheduled message is none. */
export const waitsOf = ({ waiting }: Overview): Overview['waiting'] =>
  waiting.filter(({ reason }) => reason !== 'scheduled').toSorted((a, b) => b.count - a.count)

export const countOf = (waits: Overview['waiting']): number => waits.reduce((sum, wait) => sum + wait.count, 0)

/** What failed. A message that somebody cancelled has the status, and is no trouble. */
export const failedIn = ({ failed, cancelled }: Overview['totals']): number => failed - cancelled

/** What shares are of: the messages that were accepted, without those that are scheduled for later or were cancelled. */
export function accountedIn({ totals, waiting }: Overview): number {
  const scheduled = countOf(waiting.filter(({ reason }) => reason === 'scheduled'))
  return Math.max(totals.accepted - scheduled - totals.cancelled, failedIn(totals) + totals.undelivered)
}

/** Whether the figures count the loaded rows of their time. */
export function knows({ overview: { from, totals }, readAt }: Standing, rows: readonly ListRow[]): boolean {
  const counted = rows.filter(({ createdAt }) => createdAt >= from && Date.parse(createdAt) < readAt)
  const received = counted.filter(({ direction }) => direction === 'inbound').length
  return received <= totals.received && counted.length - received <= totals.accepted
}

function noteTrouble(overview: Overview): void {
  const count = countOf(waitsOf(overview))
  const { messages: _, ...others } = troubles.value
  troubles.value = count > 0 ? { ...others, messages: { count, kind: 'warn', word: 'waiting' } } : others
}
