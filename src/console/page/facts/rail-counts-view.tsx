import { useEffect } from 'preact/hooks'
import { hasPhone, isAll, troubles } from '../frame/views.ts'
import { address } from '../state/address.ts'
import { operator } from '../state/caller.ts'
import { now } from '../state/clock.ts'
import { useReading } from '../state/keep-reading.ts'
import { othersInTrouble, ownAlerts, standing } from '../state/standing.ts'
import { listAlerts, shareAlerts } from './alert.ts'
import { AnswersCount } from './answers-count.tsx'
import { useStanding } from './read-standing.ts'
import { troublesOf } from './troubles-of.ts'

/** Draws nothing: it counts in the rail what is wrong. `isRead` means that the view reads it itself. The page of all tenants also counts. */
export default function RailCounts({ isRead }: { isRead: boolean }) {
  const known = standing.value
  const isOfOne = !isAll.value
  const [own, others] = [ownAlerts.value, othersInTrouble.value]
  useEffect(() => {
    if (isOfOne) troubles.value = known === null ? {} : troublesOf(known, now.peek(), { own, others })
  }, [known, isOfOne, own, others])
  useStanding(!isRead)
  useFiring(isOfOne && operator.value !== null && address.value.view !== 'overview' && !hasPhone.value)
  return isOfOne ? <AnswersCount /> : null
}

const READ_EVERY_MS = 30_000

/** Only for an operator: alerts have no event. */
function useFiring(isDue: boolean): void {
  const read = async () => (isDue ? listAlerts() : null)
  const known = useReading({ read, everyMs: READ_EVERY_MS }, [operator.value, isDue]).value.value
  useEffect(() => {
    if (known !== null) shareAlerts(known)
  }, [known])
}
