import { useEffect } from 'preact/hooks'
import type { Overview } from '../../../client/client.ts'
import { shareAlerts } from '../facts/alert.ts'
import { alertFacts } from '../facts/alert-facts.ts'
import { isMuted, worstFirst } from '../facts/fact.ts'
import { areFailuresUsual, factsOf } from '../facts/facts-of.ts'
import { useShared } from '../facts/read-standing.ts'
import { Loaded } from '../frame/loaded.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { me } from '../state/caller.ts'
import { clockTime, now } from '../state/clock.ts'
import { isFirstLoadOver } from '../state/live.ts'
import { Chart } from './chart.tsx'
import { Figures } from './figures.tsx'
import { Heading } from './heading.tsx'
import { Needs } from './needs.tsx'
import { Ranges, rangeShown } from './range-choice.tsx'
import { MONTH } from './ranges.ts'
import { type Known, useOverview } from './reading.ts'
import { System } from './system.tsx'
import { Destinations, Reasons } from './tables.tsx'
import { WireMap } from './wire-map.tsx'
import { wireOf } from './wire.ts'
import './overview.css'

const loadUsage = () => import('./usage-view.tsx')

/** Whether anything is wrong, since when, for whom, and what to do; then the figures behind it. */
export default function OverviewView() {
  const { value, error, again } = useOverview(rangeShown())
  useEffect(() => void (document.title = 'Overview – sgw'), [])
  if (value.value === null)
    return (
      <div class="scroller">
        <div class="overview-in no-messages">
          <LoadFailed what="The overview" error={error.value} again={again} />
        </div>
      </div>
    )
  return <Read known={value.value} error={error.value} />
}

function Read({ known, error }: { known: Known; error: string }) {
  const { standing, overview, range, alerts } = known
  const heard = alerts.filter(({ tenantId = me.value?.tenantId }) => tenantId === me.value?.tenantId)
  const own = factsOf(standing, now.peek(), heard)
  const told = own.filter(({ key }) => key !== 'failures' || !areFailuresUsual(standing.overview))
  const facts = [...told, ...alertFacts(heard, own, standing.overview, now.peek())]
  const { worst, others } = worstFirst(facts)
  useShared(standing)
  useEffect(() => shareAlerts(alerts), [alerts])
  return (
    <div class="scroller overview">
      <div class="stack overview-in">
        <Heading worst={worst} standing={standing}>
          <Ranges />
        </Heading>
        {error !== '' && (
          <p class="bad" role="status">
            {error} Below is what was known at {clockTime(standing.readAt)}.
          </p>
        )}
        <WireMap wire={wireOf(overview, standing.extensions, now.peek())} />
        <Needs facts={others} muted={facts.filter(isMuted)} />
        {isQuiet(overview) ? <Quiet /> : <Traffic known={known} />}
        {range === MONTH && isFirstLoadOver.value && <Loaded load={loadUsage} props={{}} />}
        <System alerts={alerts} />
      </div>
    </div>
  )
}

const Traffic = ({ known: { overview, range } }: { known: Known }) => (
  <>
    <Figures overview={overview} range={range} />
    <Chart overview={overview} />
    <div class="two-tables">
      <Reasons overview={overview} range={range} />
      <Destinations overview={overview} />
    </div>
  </>
)

const isQuiet = ({ totals, queued }: Overview): boolean =>
  totals.accepted + totals.received + totals.sent + totals.failed + queued === 0

/** What will be here, and what fills it. */
const Quiet = () => (
  <section class="no-messages">
    <p class="dim">No message was sent or received in {rangeShown().inWords}.</p>
    <Loaded load={loadEmpty} props={{ list: null }} around={null} />
  </section>
)

const loadEmpty = () => import('../messages/empty-view.tsx')
