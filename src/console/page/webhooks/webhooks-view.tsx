import { type Signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import './webhooks.css'
import { worstFirst } from '../facts/fact.ts'
import { FactSentence } from '../facts/fact-line.tsx'
import { factsOf } from '../facts/facts-of.ts'
import { onViewKey } from '../frame/keys.ts'
import { Loaded } from '../frame/loaded.tsx'
import { moveCursor, onListKey, useIsOpened } from '../list/cursor.ts'
import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot } from '../list/list-foot.tsx'
import { Tabs } from '../list/tabs.tsx'
import { copyText } from '../parts/copy.tsx'
import { useFollowing } from '../parts/following.ts'
import { LoadFailed } from '../parts/load-failed.tsx'
import { address, addressOf, keepInEveryTenant, param } from '../state/address.ts'
import { client } from '../state/caller.ts'
import { count, now, rowTime } from '../state/clock.ts'
import type { Reading } from '../state/keep-reading.ts'
import { commonWords, filterOf } from '../search/filters.ts'
import { AttemptRow } from './attempt-row.tsx'
import { AttemptSearch } from './attempt-search.tsx'
import { DeliveryList } from './delivery-list.ts'
import { type Destination, type Sources, destinationsOf, fineText, withAddresses } from './destination.ts'
import { DestinationRows } from './destination-rows.tsx'
import { useDestinations } from './destinations-state.ts'
import { EmptyAttempts } from './empty-attempts.tsx'
import { FILTERS, type Filter, TABS, WORDS, keyOf, openedOf, tabOf } from './filters.ts'

const loadWebhook = async () => (await import('./webhook-view.tsx')).WebhookView

keepInEveryTenant(commonWords(FILTERS))

/** Where webhooks go and how that went: the destinations, and each attempt, with what is open beside them. */
export function WebhooksView() {
  const filterKey = useComputed(() => JSON.stringify(filterOf(WORDS, address.value.params)))
  const list = useList(filterKey.value)
  const cursor = useSignal('')
  const known = useDestinations()
  const sources = known?.value.value ?? null
  const destinations = useMemo(() => sources && destinationsOf(sources), [sources])
  useEffect(() => onViewKey((key) => onKey(key, list, cursor)), [list])
  // Retries have no events: their attempts tell that figures have changed.
  useEffect(() => known?.note(), [list?.total.value])
  useEffect(() => void (document.title = 'Webhooks – sgw'), [])
  const id = param('id')
  const isOpened = useIsOpened(id)
  if (list === null || known === null) return null
  const opened = openedOf(id)
  const nameOf = (target: string): string => destinations?.find((each) => each.id === target)?.name ?? target
  return (
    <ListDetail
      list={list}
      name="Attempts"
      listKey={filterKey.value}
      cursor={id || cursor.value}
      draw={(row) => (
        <AttemptRow
          row={row}
          name={nameOf(row.appId ?? row.triggerId ?? '')}
          isOpen={keyOf(row) === id}
          isCursor={keyOf(row) === cursor.value}
        />
      )}
      head={<Head list={list} known={known} destinations={destinations} nameOf={nameOf} />}
      empty={<EmptyAttempts list={list} destinations={destinations} changed={known.soon} />}
      foot={<Foot list={list} />}
      detail={
        opened === null ? null : (
          <Loaded
            load={loadWebhook}
            props={{
              opened,
              list,
              destinations,
              changed: known.soon,
              move: (step: number) => moveCursor(list, cursor, step),
              takesFocus: isOpened,
            }}
          />
        )
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

const Foot = ({ list }: { list: DeliveryList }) => <ListFoot hints={HINTS}>{shownText(list)}</ListFoot>

const HINTS: readonly KeyHint[] = [
  [['j', 'k'], 'move'],
  [['Esc'], 'close'],
  [['c'], 'copy id'],
]

/** How much of the list stands here; '' where nothing does. */
function shownText({ rows, total, hasMore }: DeliveryList): string {
  if (rows.value.length === 0) return ''
  return hasMore.value
    ? `${count(rows.value.length)} of ${count(total.value)} attempts loaded, more as you scroll`
    : `All ${count(total.value)} attempts loaded. They are kept for 30 days`
}

/** The list of the filter; a changed filter or app makes another one. */
function useList(filterKey: string): DeliveryList | null {
  const sgw = client.value
  const list = useMemo(
    () => (sgw === null ? null : new DeliveryList(sgw, JSON.parse(filterKey) as Filter)),
    [filterKey, sgw],
  )
  const load = (): void => void list?.load()
  useFollowing(list, load, () => (list?.error.value === '' ? list.soon() : load()))
  return list
}

/** The id of an attempt's delivery stands before its number. */
const copyDelivery = (id: string): void => void copyText(id.split(' ')[0] ?? '')

const onKey = (key: string, list: DeliveryList | null, cursor: Signal<string>): boolean =>
  list !== null && onListKey(key, list, cursor, { view: 'webhooks', copy: copyDelivery })
