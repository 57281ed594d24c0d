import { useEffect, useMemo } from 'preact/hooks'
import './webhooks.css'
import { worstFirst } from '../facts/fact.ts'
import { FactSentence } from '../facts/fact-line.tsx'
import { factsOf } from '../facts/facts-of.ts'
import { LostActs } from '../facts/lazy-lost-acts.tsx'
import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot } from '../list/list-foot.tsx'
import { Tabs } from '../list/tabs.tsx'
import { useFollowed } from '../parts/following.ts'
import { LoadFailed } from '../parts/load-failed.tsx'
import { address, keepInEveryTenant, param } from '../state/address.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { ownAlerts } from '../state/standing.ts'
import type { Reading } from '../state/keep-reading.ts'
import { commonWords, filterOf } from '../search/filters.ts'
import { AttemptSearch } from './attempt-search.tsx'
import { DeliveryList } from './delivery-list.ts'
import { DeliveryRow } from './delivery-row.tsx'
import { type Destination, type Sources, destinationsOf, fineText, withAddresses } from './destination.ts'
import { DestinationRows } from './destination-rows.tsx'
import { useDestinations } from './destinations-state.ts'
import { EmptyAttempts } from './empty-attempts.tsx'
import { FILTERS, type Filter, TABS, WORDS, openedOf, tabOf } from './filters.ts'

const loadWebhook = () => import('./webhook-view.tsx')

keepInEveryTenant(commonWords(FILTERS))

/** Where webhooks go, and with what result: the destinations, and each delivery, with the open item beside them. */
export default function WebhooksView() {
  const filter: Filter = filterOf(WORDS, address.value.params)
  const filterKey = JSON.stringify(filter)
  const list = useFollowed(filterKey, (sgw) => new DeliveryList(sgw, filter))
  const known = useDestinations()
  const sources = known?.value.value ?? null
  const destinations = useMemo(() => sources && destinationsOf(sources), [sources])
  // Retries have no events: their attempts show that the figures have changed.
  useEffect(() => known?.note(), [list?.total.value])
  if (list === null || known === null) return null
  const opened = openedOf(param('id'))
  const nameOf = (target: string): string => destinations?.find((each) => each.id === target)?.name ?? target
  return (
    <ListDetail
      view="webhooks"
      list={list}
      name="Deliveries"
      title="Webhooks"
      listKey={filterKey}
      draw={(row, marks) => (
        <DeliveryRow
          row={row}
          name={nameOf(row.appId ?? row.triggerId ?? '')}
          isAttempt={filter.outcome !== undefined}
          {...marks}
        />
      )}
      head={<Head list={list} known={known} destinations={destinations} nameOf={nameOf} />}
      empty={<EmptyAttempts list={list} destinations={destinations} changed={known.soon} />}
      foot={<ListFoot hints={HINTS}>{shownText(list)}</ListFoot>}
      detail={
        opened && {
          name: 'Webhook',
          load: loadWebhook,
          props: { opened, list, destinations, overview: sources?.overview ?? null, changed: known.soon },
        }
      }
    />
  )
}

interface HeadProps {
  list: DeliveryList
  known: Reading<Sources>
  destinations: readonly Destination[] | null
  nameOf: (target: string) => string
}

const Head = ({ list, known, destinations, nameOf }: HeadProps) => (
  <header class="list-head">
    <Sentence sources={known.value.value} destinations={destinations} done={() => list.soon()} />
    {destinations === null && known.error.value !== '' && (
      <LoadFailed what="The destinations" error={known.error.value} again={known.again} />
    )}
    {destinations !== null && destinations.length > 0 && <DestinationRows destinations={destinations} />}
    <AttemptSearch list={list} destinations={destinations} nameOf={nameOf} />
    <Tabs label="State" tabs={TABS} current={tabOf(list.filter)} total={deliveriesIn(list)} />
  </header>
)

/** The worst problem of a destination, in one sentence; the rows below show the rest. */
function Sentence({ sources, destinations, done }: SentenceProps) {
  const overview = sources === null || destinations === null ? null : withAddresses(sources.overview, destinations)
  const facts = overview === null ? [] : factsOf({ overview, extensions: [] }, now.peek(), ownAlerts.value)
  const { worst } = worstFirst(facts.filter(({ rank }) => rank === 'webhooks'))
  const isOver = worst?.since === null
  return (
    <>
      <h1 class="sentence">
        {worst === null ? fineText(destinations) : <FactSentence fact={worst} />}
        {worst !== null && `${isOver ? '' : ` since ${rowTime(worst.since ?? '', now.peek())}`}.`}
      </h1>
      {worst !== null && (
        <div class="sentence-rest">
          <span class="dim">{worst.advice}</span>
          <LostActs id={worst.key} overview={overview} class={isOver ? 'button primary' : 'button'} done={done} />
        </div>
      )}
    </>
  )
}

interface SentenceProps extends Pick<HeadProps, 'destinations'> {
  sources: Sources | null
  /** Called when deliveries are repeated or dismissed. */
  done: () => void
}

const HINTS: readonly KeyHint[] = [
  [['j', 'k'], 'move'],
  [['Esc'], 'close'],
]

/** The list counts attempts, so the number of deliveries is known only once all are loaded; 0 until then. */
const deliveriesIn = ({ filter, total, shown, hasMore }: DeliveryList): number | null =>
  filter.state !== undefined || total.value === null ? total.value : hasMore.value ? 0 : shown.value.length

function shownText({ total, shown, hasMore }: DeliveryList): string {
  if (total.value === null || shown.value.length === 0) return ''
  return `${count(shown.value.length)} loaded, ${hasMore.value ? 'more as you scroll' : 'kept for 30 days'}`
}
