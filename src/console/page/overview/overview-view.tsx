import { useEffect } from 'preact/hooks'
import type { ExtensionHealth, Overview } from '../../../client/client.ts'
import { listAlerts, shareAlerts } from '../facts/alert.ts'
import { alertFacts } from '../facts/alert-facts.ts'
import { type Fact, isMuted, worstFirst } from '../facts/fact.ts'
import { FactSentence } from '../facts/fact-line.tsx'
import { accountedIn, areFailuresUsual, factsOf, failedIn, waitsOf } from '../facts/facts-of.ts'
import { isSoon, readStanding, useShared } from '../facts/read-standing.ts'
import { Loaded } from '../frame/loaded.tsx'
import { WAIT_ADVICE } from '../messages/wait-words.ts'
import { latest } from '../parts/ends.ts'
import type { KnownAlert } from '../state/alert.ts'
import { asApp, client, me, operator } from '../state/caller.ts'
import { count, dayOf, duration, now, rowTime } from '../state/clock.ts'
import { useReading } from '../state/keep-reading.ts'
import { isFirstLoadOver } from '../state/live.ts'
import type { Standing } from '../state/standing.ts'
import { Chart } from './chart.tsx'
import { Figures } from './figures.tsx'
import { Needs } from './needs.tsx'
import { MONTH, type Range } from './ranges.ts'
import { Heading, type PageProps, Ranges, StartPage, rangeShown } from './start-page.tsx'
import { System } from './system.tsx'
import { Destinations, Reasons } from './tables.tsx'
import { WireMap } from './wire-map.tsx'
import { numbersSentence, wireOf } from './wire.ts'

const loadUsage = () => import('./usage-view.tsx')
const loadEmpty = () => import('../messages/empty-view.tsx')

/** Everything that the view shows at the same time. Troubles are of the last day, regardless of the range. */
interface Known {
  readAt: number
  standing: Standing
  range: Range
  /** For the range. */
  overview: Overview
  /** Empty with an app's key. */
  alerts: readonly KnownAlert[]
}

/** A wait or a revoked extension causes no event, so the view is also reloaded without one; sooner after an event. */
const READ_EVERY_MS = 30_000
const READ_AFTER_EVENT_MS = 15_000

/** Whether anything is wrong, since when, for whom, and what to do; then the figures behind it. */
export default function OverviewView() {
  const range = rangeShown()
  const reading = useReading<Known>(
    {
      read: () => readOverview(range),
      everyMs: READ_EVERY_MS,
      afterEventMs: READ_AFTER_EVENT_MS,
      isSoon: (known, event) => isSoon(known?.standing ?? null, event),
    },
    [client.value, range],
  )
  useEffect(() => void (document.title = 'Overview – sgw'), [])
  return <StartPage what="The overview" reading={reading} Page={Page} />
}

async function readOverview(range: Range): Promise<Known> {
  const [standing, ofRange, alerts] = await Promise.all([
    readStanding(),
    range.hours === 24 ? null : asApp().overview(range.hours),
    operator.value === null ? [] : listAlerts(),
  ])
  return { readAt: standing.readAt, standing, range, overview: ofRange ?? standing.overview, alerts }
}

function Page({ known: { standing, overview, range, alerts }, stale }: PageProps<Known>) {
  const heard = alerts.filter(({ tenantId = me.value?.tenantId }) => tenantId === me.value?.tenantId)
  const own = factsOf(standing, now.peek(), heard)
  const told = own.filter(({ key }) => key !== 'failures' || !areFailuresUsual(standing.overview))
  const facts = [...told, ...alertFacts(heard, own, standing.overview, now.peek())]
  const { worst, others } = worstFirst(facts)
  useShared(standing)
  useEffect(() => shareAlerts(alerts), [alerts])
  return (
    <>
      <Heading
        worst={worst}
        fine={<FineSentence extensions={standing.extensions} />}
        lead={worst === null ? <FineLead standing={standing} /> : <Lead fact={worst} standing={standing} />}
      >
        <Ranges />
      </Heading>
      {stale}
      <WireMap wire={wireOf(overview, standing.extensions, now.peek())} />
      <Needs facts={others} muted={facts.filter(isMuted)} />
      {isQuiet(overview) ? <Quiet /> : <Traffic overview={overview} range={range} />}
      {range === MONTH && isFirstLoadOver.value && <Loaded load={loadUsage} props={{}} />}
      <System alerts={alerts} />
    </>
  )
}

const FineSentence = ({ extensions }: { extensions: readonly ExtensionHealth[] }) => (
  <>
    <FactSentence fact={{ parts: numbersSentence(extensions, now.value) }} />.
  </>
)

function FineLead({ standing: { overview, extensions } }: { standing: Standing }) {
  const last = latest(extensions.map(({ lastInboundAt }) => lastInboundAt))
  const bad = failedIn(overview.totals) + overview.totals.undelivered
  const failures = `${count(bad)} of ${count(accountedIn(overview))} failed in 24 hours, as usual. `
  return (
    <>
      Nothing is waiting, and nothing needs attention. {bad > 0 && failures}
      {last === null ? 'No text has arrived yet.' : <LastText at={last} />}
    </>
  )
}

function LastText({ at }: { at: string }) {
  const isToday = dayOf(at) === dayOf(now.value)
  return (
    <>
      The last text arrived <b>{isToday ? whole(now.value - Date.parse(at)) : rowTime(at, now.value)}</b>
      {isToday && ' ago'}.
    </>
  )
}

/** Since when, what the gateway does without help, and how long it will take. */
function Lead({ fact, standing }: { fact: Fact; standing: Standing }) {
  const wait = fact.key === 'waiting' ? waitsOf(standing.overview)[0] : undefined
  return (
    <>
      {fact.since !== null && `Since ${rowTime(fact.since, now.peek())}. `}
      {wait === undefined ? fact.advice : WAIT_ADVICE[wait.reason]}
      {fact.key === 'not connected' && 'Texts need a phone number of a RingCentral extension.'}
      {wait?.until !== undefined && <Countdown until={wait.until} />}
    </>
  )
}

/** Changes every second, which screen readers must not announce. */
function Countdown({ until }: { until: string }) {
  const left = Date.parse(until) - now.value
  return left > 0 ? (
    <span aria-hidden="true">
      {' '}
      It has <b>{whole(left)}</b> to go.
    </span>
  ) : null
}

const whole = (ms: number): string => duration(Math.max(1000, Math.floor(ms / 1000) * 1000)).replace('.0', '')

const Traffic = (props: Pick<Known, 'overview' | 'range'>) => (
  <>
    <Figures {...props} />
    <Chart {...props} />
    <div class="two-tables">
      <Reasons {...props} />
      <Destinations {...props} />
    </div>
  </>
)

const isQuiet = ({ totals, queued }: Overview): boolean =>
  totals.accepted + totals.received + totals.sent + totals.failed + queued === 0

const Quiet = () => (
  <section class="no-messages">
    <p class="dim">No message was sent or received in {rangeShown().inWords}.</p>
    <Loaded load={loadEmpty} props={{ list: null }} around={null} />
  </section>
)
