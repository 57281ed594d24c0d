import { useEffect, useMemo } from 'preact/hooks'
import './webhooks.css'
import { worstFirst } from '../facts/fact.ts'
import { FactSentence } from '../facts/fact-line.tsx'
import { factsOf } from '../facts/facts-of.ts'
import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot, loadedText } from '../list/list-foot.tsx'
import { Tabs } from '../list/tabs.tsx'
import { useFollowed } from '../parts/following.ts'
import { LoadFailed } from '../parts/load-failed.tsx'
import { address, addressOf, keepInEveryTenant, param } from '../state/address.ts'
import { now, rowTime } from '../state/clock.ts'
import type { Reading } from '../state/keep-reading.ts'
import { commonWords, filterOf } from '../search/filters.ts'
import { AttemptRow } from './attempt-row.tsx'
import { AttemptSearch } from './attempt-search.tsx'
import { DeliveryList } from './delivery-list.ts'
import { type Destination, type Sources, destinationsOf, fineText, withAddresses } from './destination.ts'
import { DestinationRows } from './destination-rows.tsx'
import { useDestinations } from './destinations-state.ts'
import { EmptyAttempts } from './empty-attempts.tsx'
import { FILTERS, type Filter, TABS, WORDS, openedOf, tabOf } from './filters.ts'

const loadWebhook = async () => (await import('./webhook-view.tsx')).WebhookView

keepInEveryTenant(commonWords(FILTERS))

/** Where webhooks go and how that went: the destinations, and each attempt, with what is open beside them. */
export function WebhooksView() {
  const filter: Filter = filterOf(WORDS, address.value.params)
  const filterKey = JSON.stringify(filter)
  const list = useFollowed(filterKey, (sgw) => new DeliveryList(sgw, filter))
  const known = useDestinations()
  const sources = known?.value.value ?? null
  const destinations = useMemo(() => sources && destinationsOf(sources), [sources])
  // Retries have no events: their attempts tell that figures have changed.
  useEffect(() => known?.note(), [list?.total.value])
  if (list === null || known === null) return null
  const opened = openedOf(param('id'))
  const nameOf = (target: string): string => destinations?.find((each) => each.id === target)?.name ?? target
  return (
    <ListDetail
      view="webhooks"
      list={list}
      name="Attempts"
      title="Webhooks"
      listKey={filterKey}
      // The id of an attempt's delivery stands before its number.
      copied={(id) => id.split(' ')[0] ?? ''}
      draw={(row, marks) => <AttemptRow row={row} name={nameOf(row.appId ?? row.triggerId ?? '')} {...marks} />}
      head={<Head list={list} known={known} destinations={destinations} nameOf={nameOf} />}
      empty={<EmptyAttempts list={list} destinations={destinations} changed={known.soon} />}
      foot={<ListFoot hints={HINTS}>{shownText(list)}</ListFoot>}
      detail={
        opened && { name: 'Webhook', load: loadWebhook, props: { opened, list, destinations, changed: known.soon } }
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
    <Sentence sources={known.value.value} destinations={destinations} />
    {destinations === null && known.error.value !== '' && (
      <LoadFailed what="The destinations" error={known.error.value} again={known.again} />
    )}
    {destinations !== null && destinations.length > 0 && <DestinationRows destinations={destinations} />}
    <AttemptSearch list={list} destinations={destinations} nameOf={nameOf} />
    <Tabs label="Outcome" tabs={TABS} current={tabOf(list.filter)} total={list.total.value} />
  </header>
)

/** The worst that is wrong with a destination, in one sentence; the rows below say the rest. */
function Sentence({ sources, destinations }: Pick<HeadProps, 'destinations'> & { sources: Sources | null }) {
  const overview = sources === null || destinations === null ? null : withAddresses(sources.overview, destinations)
  const facts = overview === null ? [] : factsOf({ overview, extensions: [], readAt: 0 }, now.peek())
  const { worst } = worstFirst(facts.filter(({ rank }) => rank === 'webhooks'))
  const first = destinations?.[0]
  return (
    <>
      <h1 class="sentence">
        {worst === null ? fineText(destinations) : <FactSentence fact={worst} />}
        {worst !== null && ` since ${rowTime(worst.since ?? '', now.peek())}.`}
      </h1>
      {first?.usage?.failingSince && first.isInUse && (
        <p class="sentence-rest">
          <span class="dim">{worst?.advice}</span>
          <a class="button" href={addressOf('webhooks', { [first.kind]: first.id, id: first.id, ask: 'recover' })}>
            Recover since {rowTime(first.usage.failingSince, now.peek())}…
          </a>
        </p>
      )}
    </>
  )
}

const HINTS: readonly KeyHint[] = [
  [['j', 'k'], 'move'],
  [['Esc'], 'close'],
  [['c'], 'copy id'],
]

function shownText(list: DeliveryList): string {
  const text = loadedText(list, ' attempts')
  return text === '' || list.hasMore.value ? text : `${text}. They are kept for 30 days`
}
