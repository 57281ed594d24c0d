import { useEffect } from 'preact/hooks'
import { answersTrouble } from '../conversations/answers.ts'
import { hasPhone, isAll, troubles } from '../frame/views.ts'
import { address } from '../state/address.ts'
import { asApp, client, operator } from '../state/caller.ts'
import { now } from '../state/clock.ts'
import { useReading } from '../state/keep-reading.ts'
import { othersInTrouble, ownAlerts, standing, toAnswer } from '../state/standing.ts'
import { isNumber } from '../thread/contact-forms.ts'
import { listAlerts, shareAlerts } from './alert.ts'
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

/** Counts in the rail and in the page's title how many contacts are waiting for an answer. */
function AnswersCount() {
  useEffect(() => titleWith(toAnswer.value?.count ?? 0), [toAnswer.value?.count])
  // Beside the simulator, the contact is the person at the page, and the list of conversations counts itself.
  return hasPhone.value || address.value.view === 'conversations' ? null : <AnswersReader />
}

/**
 * Read again after events, at most this often, because a live list leaves one request a minute; immediately for the first contact that is
 * waiting.
 */
const COUNT_EVERY_MS = 60_000

function AnswersReader() {
  const reading = useReading(
    {
      read: () => asApp().conversations({ limit: 1 }).page(1),
      afterEventMs: COUNT_EVERY_MS,
      isSoon: (known, event) => known?.toAnswer === 0 && event.type === 'sms_inbound' && isNumber(event.from),
    },
    [client.value],
  )
  const count = reading.value.value?.toAnswer ?? null
  useEffect(() => {
    if (count !== null) toAnswer.value = answersTrouble(count)
  }, [count])
  return null
}

/** `(5) Messages – sgw`, whichever view sets the title, until the returned function is called. */
function titleWith(count: number | string): () => void {
  const mark = (): void => {
    const own = document.title.replace(/^\([\d,+]+\) /, '')
    const title = count === 0 ? own : `(${count}) ${own}`
    if (document.title !== title) document.title = title
  }
  mark()
  const observer = new MutationObserver(mark)
  observer.observe(document.head, { subtree: true, childList: true })
  return () => observer.disconnect()
}
