import { useEffect } from 'preact/hooks'
import { answersTrouble } from '../conversations/answers.ts'
import { hasPhone } from '../frame/views.ts'
import { address } from '../state/address.ts'
import { asApp, client } from '../state/caller.ts'
import { useReading } from '../state/keep-reading.ts'
import { toAnswer } from '../state/standing.ts'
import { isNumber } from '../thread/contact-forms.ts'

/** Draws nothing: it counts in the rail and in the page's title how many contacts are waiting for an answer. */
export function AnswersCount() {
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
