import { useEffect, useMemo } from 'preact/hooks'
import type { Overview } from '../../../client/client.ts'
import './webhooks.css'
import { worstFirst } from '../facts/fact.ts'
import { FactSentence, LostActs } from '../facts/fact-line.tsx'
import { webhookFacts } from '../facts/facts-of.ts'
import { Loaded } from '../frame/loaded.tsx'
import { hasPhone } from '../frame/views.ts'
import { ListDetail } from '../list/list-detail.tsx'
import { type KeyHint, ListFoot } from '../list/list-foot.tsx'
import { NoRows, NothingFound } from '../list/no-rows.tsx'
import { Tabs } from '../list/tabs.tsx'
import { Empty } from '../parts/empty.tsx'
import { useFollowed } from '../parts/following.ts'
import { Icon } from '../parts/icon.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { address, addressOf, keepInEveryTenant, param } from '../state/address.ts'
import { asApp, client, me } from '../state/caller.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { ownAlerts } from '../state/standing.ts'
import { type Reading, onReadAll, useReading } from '../state/keep-reading.ts'
import { chipsOf, commonWords, filterOf } from '../search/filters.ts'
import { SearchField } from '../search/search-field.tsx'
import { failureText } from '../state/failure.ts'
import { DeliveryList } from './delivery-list.ts'
import { DeliveryRow } from './delivery-row.tsx'
import {
  type Destination,
  type Sources,
  destinationsOf,
  fineText,
  isTroubled,
  speedText,
  stateText,
  withAddresses,
} from './destination.ts'
import { SetAddress } from './settings.tsx'
import { shortUrl } from './words.ts'
import { FILTERS, type Filter, TABS, WORDS, openedOf, tabOf } from './filters.ts'

const loadWebhook = () => import('./webhook-view.tsx')
const loadSuggestions = () => import('./attempt-suggestions-view.tsx')

keepInEveryTenant(commonWords(FILTERS))

/** Where webhooks go, and with what result: the destinations, and each delivery, with the open item beside them. */
export default function WebhooksView() {
  const filter: Filter = filterOf(WORDS, address.value.params)
  const filterKey = JSON.stringify(filter)
  const list = useFollowed(filterKey, (sgw) => new DeliveryList(sgw, filter))
  const known = useReading({ read: readSources, afterEventMs: READ_EVERY_MS }, [client.value])
  const sources = known.value.value
  const destinations = useMemo(() => sources && destinationsOf(sources), [sources])
  useEffect(() => onReadAll(() => list?.soon()), [list])
  // Retries have no events: their attempts show that the figures have changed.
  useEffect(() => known.note(), [list?.total.value])
  if (list === null) return null
  const opened = openedOf(param('id'))
  const name = opened && 'deliveryId' in opened ? 'Delivery' : 'Destination'
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
      empty={
        <NoRows list={list} name="Deliveries">
          <NoAttempts list={list} destinations={destinations} />
        </NoRows>
      }
      foot={<ListFoot hints={HINTS}>{shownText(list)}</ListFoot>}
      detail={opened && { name, load: loadWebhook, props: { opened, list, destinations } }}
    />
  )
}

/** The figures are read again after events, at most this often. */
const READ_EVERY_MS = 30_000

async function readSources(): Promise<Sources> {
  const sgw = asApp()
  const [overview, apps, triggers] = await Promise.all([
    sgw.overview(24, 'nextAttempt'),
    sgw.apps.list(),
    sgw.triggers.list(),
  ])
  return { overview, apps, triggers }
}

interface HeadProps {
  list: DeliveryList
  known: Reading<Sources>
  destinations: readonly Destination[] | null
  nameOf: (target: string) => string
}

const Head = ({ list, known, destinations, nameOf }: HeadProps) => (
  <header class="list-head">
    <Sentence overview={known.value.value?.overview} destinations={destinations} />
    {destinations === null && <LoadFailed what="The destinations" error={known.error.value} again={known.again} />}
    {destinations !== null && destinations.length > 0 && (
      <ul class="destinations" aria-label="Destinations">
        {destinations.map((destination, index) => (
          <li key={destination.id}>
            <DestinationRow destination={destination} isWorst={index === 0} />
          </li>
        ))}
      </ul>
    )}
    <SearchField
      label="Search deliveries"
      placeholder="app:name  outcome:timeout  message:msg_…"
      // The outcome is a tab, not a chip; apps appear by name.
      chips={chipsOf(list.filter, tabOf(list.filter), nameOf)}
      read={(typed) =>
        loadSuggestions()
          .then(({ readSearch }) => readSearch(typed, destinations ?? []))
          .catch(failureText)
      }
      suggest={(parts) => <Loaded load={loadSuggestions} props={{ ...parts, list, destinations }} around={null} />}
    />
    <Tabs label="State" tabs={TABS} current={tabOf(list.filter)} total={deliveriesIn(list)} />
  </header>
)

/** The worst problem of a destination, in one sentence; the rows below show the rest. */
function Sentence({ overview, destinations }: Pick<HeadProps, 'destinations'> & { overview: Overview | undefined }) {
  const shown = overview && destinations && withAddresses(overview, destinations)
  const { worst } = worstFirst(shown ? webhookFacts(shown, now.peek(), ownAlerts.value) : [])
  if (worst === null) return <h1 class="sentence">{fineText(destinations)}</h1>
  const { key, since, advice } = worst
  const of = destinations?.find(({ id }) => id === key)
  return (
    <>
      <h1 class="sentence">
        <FactSentence fact={worst} />
        {since !== null && ` since ${rowTime(since, now.peek())}`}.
      </h1>
      <div class="sentence-rest">
        <span class="dim">{advice}</span>
        {of?.usage && (
          <LostActs destination={of.usage} until={of.until} class={since === null ? 'button primary' : 'button'} />
        )}
      </div>
    </>
  )
}

/** Where webhooks are posted, the worst first: the heading says what is wrong with that one. It opens with its attempts. */
function DestinationRow({ destination, isWorst }: { destination: Destination; isWorst: boolean }) {
  const { id, kind, name, url, usage, isInUse } = destination
  const isBad = isTroubled(destination)
  const isChosen = param(kind) === id
  return (
    <a
      class={isBad ? 'columns destination bad-destination' : 'columns destination'}
      href={addressOf('webhooks', { [kind]: id, id })}
      data-id={id}
      aria-current={isChosen ? 'true' : undefined}
    >
      <Icon name={isBad ? 'failed' : !isInUse ? 'cancelled' : usage === null ? 'webhook' : 'sent'} />
      <b class="clip">{name}</b>
      <span class="clip destination-url" title={url}>
        {shortUrl(url)}
      </span>
      <span class="destination-state">{stateText(destination, now.peek(), isWorst)}</span>
      <span class="measure not-on-phone">{speedText(destination)}</span>
    </a>
  )
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

/** What will be here, and how to fill it. */
function NoAttempts({ list, destinations }: Pick<HeadProps, 'list' | 'destinations'>) {
  if (Object.keys(list.filter).length > 0)
    return <NothingFound text="No delivery matches this filter." noun="deliveries" words={WORDS} />
  if (destinations?.some(({ isInUse }) => isInUse) === true)
    return (
      <Empty
        text={`Each webhook that the gateway posts appears here, with the answer of its destination.${hasPhone.value ? '' : ' Text one of your numbers to see one.'}`}
        command={hasPhone.value ? 'sgw simulate inbound --to NUMBER --from +15555550177 --text Hello' : null}
      />
    )
  const { appId, name } = me.value ?? { appId: null, name: null }
  return (
    <Empty
      text="Give an app a webhook address, and the gateway posts each received text there, signed. Every delivery appears here."
      command={`sgw app update ${appId ?? 'APP'} --webhook-url https://shop.example/sms`}
    >
      {appId !== null && <SetAddress appId={appId} name={name ?? appId} url="" />}
    </Empty>
  )
}
