import { useEffect } from 'preact/hooks'
import { onViewKey } from '../frame/keys.ts'
import { hasLinks } from '../frame/panel.ts'
import { allText, troubles } from '../frame/views.ts'
import { Needs } from '../overview/needs.tsx'
import { Ranges, rangeShown } from '../overview/range-choice.tsx'
import { System } from '../overview/system.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { stepTo } from '../parts/step-to.ts'
import { addressOf } from '../state/address.ts'
import { operator } from '../state/caller.ts'
import { clockTime, count } from '../state/clock.ts'
import { AllHeading } from './all-heading.tsx'
import { type Known, useAll } from './reading.ts'
import { standingOfAll, troublesOfAll } from './standing-of-all.ts'
import { TenantTable } from './tenant-table.tsx'
import '../overview/overview.css'
import './all.css'

/** An operator's start page: the worst fact of all tenants, what else is wrong, and a row for each tenant. */
export default function AllView() {
  const { value, error, again } = useAll(rangeShown())
  useEffect(() => onViewKey((key) => stepTo(key, '.tenant-name')), [])
  const isOperator = operator.value !== null
  // An app's key sees one tenant.
  useEffect(() => void (isOperator || location.replace(addressOf('overview'))), [isOperator])
  if (!isOperator) return null
  if (value.value === null)
    return (
      <div class="scroller">
        <div class="overview-in no-messages">
          <LoadFailed what="The tenants" error={error.value} again={again} />
        </div>
      </div>
    )
  return <Read known={value.value} error={error.value} />
}

function Read({ known, error }: { known: Known; error: string }) {
  const { overview, range, readAt } = known
  const standing = standingOfAll(overview, { range, hasLinks: hasLinks() })
  const { others, muted } = standing
  useShared(known, standing)
  return (
    <div class="scroller overview">
      <div class="stack overview-in">
        <AllHeading known={known} standing={standing}>
          <Ranges month="Month" />
        </AllHeading>
        {error !== '' && (
          <p class="bad" role="status">
            {error} Below is what was known at {clockTime(readAt)}.
          </p>
        )}
        <Needs facts={others} muted={muted} of="in all tenants, the worst first" />
        <TenantTable known={known} standing={standing} />
        <System alerts={overview.alerts} />
      </div>
    </div>
  )
}

/** The rail, the switcher and the title show the same. */
function useShared({ overview, has }: Known, standing: ReturnType<typeof standingOfAll>): void {
  const { byTenant, worst } = standing
  useEffect(() => {
    const bad = byTenant.size + (worst !== null && worst.tenantId === undefined ? 1 : 0)
    document.title = `${bad > 0 ? `${bad} ${bad === 1 ? 'needs' : 'need'} attention – ` : ''}All tenants – sgw`
    troubles.value = troublesOfAll(standing)
    const apps = [...has.values()].reduce((sum, each) => sum + each.apps, 0)
    const appsText = has.size < overview.total ? '' : `, ${count(apps)} ${apps === 1 ? 'app' : 'apps'}`
    allText.value = `${count(overview.total)} tenants${appsText}`
  }, [overview])
}
