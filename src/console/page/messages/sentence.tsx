import { useRef } from 'preact/hooks'
import { worstFirst } from '../facts/fact.ts'
import { FactLine, FactRest, FactSentence } from '../facts/fact-line.tsx'
import { factsOf } from '../facts/facts-of.ts'
import { addressOf } from '../state/address.ts'
import { count, now } from '../state/clock.ts'
import { type Standing, ownAlerts, standing } from '../state/standing.ts'
import type { MessageList } from './list-state.ts'
import type { ListRow } from './row.ts'
import { stateOf } from './words.ts'

/**
 * The worst fact about the last day's messages, in one sentence with links. Below it is what else needs attention. The sentence never
 * contradicts the list.
 */
export function Sentence({ list }: { list: MessageList }) {
  const known = standing.value
  const rows = useLoadedRows(list)
  const isCounted = known === null || rows === null || counts(known, rows)
  const facts = known === null ? [] : factsOf(known, now.peek(), ownAlerts.value)
  // Figures that do not include the messages, such as those from before an upgrade, say nothing about failures.
  const { worst, others } = worstFirst(facts.filter(({ key }) => isCounted || key !== 'failures'))
  return (
    <>
      <h1 class="sentence">
        {worst === null ? fineText(list, known, rows, isCounted) : <FactSentence fact={worst} />}
        {worst !== null && '.'}
      </h1>
      {(worst?.since || worst?.action) && <FactRest fact={worst} />}
      {others.length > 0 && (
        <>
          <a class="link facts-more" href={addressOf('overview')}>
            and {others.length} more
          </a>
          <ul class="facts-too" aria-label="Also needs attention">
            {others.map((fact) => (
              <FactLine key={fact.key} fact={fact} />
            ))}
          </ul>
        </>
      )}
    </>
  )
}

/** The rows of the list, or the previous ones until it is loaded; null before the first. */
function useLoadedRows(list: MessageList): readonly ListRow[] | null {
  const loaded = useRef<readonly ListRow[] | null>(null)
  if (!list.isLoading.value) loaded.current = list.rows.value
  return loaded.current
}

/** Whether the figures count the loaded rows of their period. */
const counts = ({ overview: { from, totals }, readAt }: Standing, rows: readonly ListRow[]): boolean =>
  rows.filter(({ createdAt }) => createdAt >= from && Date.parse(createdAt) < readAt).length <=
  totals.received + totals.accepted

function fineText(list: MessageList, known: Standing | null, rows: readonly ListRow[] | null, isCounted: boolean) {
  if (list.total.value === 0 && Object.keys(list.filter).length === 0) return 'No messages yet.'
  if (known === null || rows === null) return 'Messages'
  const { from, totals, queued } = known.overview
  const isQuiet = totals.accepted === 0 && totals.received === 0
  if (!isCounted || (isQuiet && (queued > 0 || rows.some(({ createdAt }) => createdAt >= from))))
    return 'Messages, newest first.'
  if (isQuiet) return 'No messages in 24 hours.'
  const hasBad = rows.some((row) => stateOf(row).kind === 'bad')
  return `${count(totals.sent)} sent and ${count(totals.received)} received in 24 hours${hasBad ? '' : ', none failed'}.`
}
