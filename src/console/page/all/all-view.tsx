import { useEffect } from 'preact/hooks'
import { onViewKey } from '../frame/keys.ts'
import { hasLinks } from '../frame/panel.ts'
import { allText, troubles } from '../frame/views.ts'
import { Needs } from '../overview/needs.tsx'
import { Heading, type PageProps, Ranges, StartPage, rangeShown } from '../overview/start-page.tsx'
import { System } from '../overview/system.tsx'
import { stepTo } from '../parts/step-to.ts'
import { addressOf } from '../state/address.ts'
import { operator } from '../state/caller.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { type Known, useAll } from './reading.ts'
import { type AllStanding, othersText, standingOfAll, stateOf, troublesOfAll } from './standing-of-all.ts'
import { TenantTable } from './tenant-table.tsx'
import './all.css'

/** An operator's start page: the worst fact of all tenants, what else is wrong, and a row for each tenant. */
export default function AllView() {
  const reading = useAll(rangeShown())
  useEffect(() => onViewKey((key) => stepTo(key, '.tenant-name')), [])
  const isOperator = operator.value !== null
  // An app's key sees one tenant.
  useEffect(() => void (isOperator || location.replace(addressOf('overview'))), [isOperator])
  return isOperator ? <StartPage what="The tenants" reading={reading} Page={Page} /> : null
}

function Page({ known, stale }: PageProps<Known>) {
  const { overview, range } = known
  const standing = standingOfAll(overview, { range, hasLinks: hasLinks() })
  const { worst, others, muted } = standing
  const name = overview.tenants.find(({ tenantId }) => tenantId === worst?.tenantId)?.name
  useShared(known, standing)
  return (
    <>
      <Heading
        worst={worst}
        {...wordsOf(known, standing)}
        beside={
          name !== undefined && (
            <a class="button clip" href={addressOf('overview', { tenant: worst?.tenantId ?? '' })}>
              View {name}
            </a>
          )
        }
      >
        <Ranges month="Month" />
      </Heading>
      {stale}
      <Needs facts={others} muted={muted} of="across all tenants, worst first" />
      <TenantTable known={known} standing={standing} />
      <System alerts={overview.alerts} />
    </>
  )
}

/** Some tenants are not working, although nothing is wrong. */
const CALM = 'Nothing needs attention.'

/** The heading if nothing is wrong; and below it since when the worst fact is, and how the others are. */
function wordsOf(known: Known, standing: AllStanding): { fine: string; lead: string } {
  const { worst } = standing
  const { overview, has } = known
  const others = othersText(known, standing)
  const isFine = overview.tenants.every((tenant) => stateOf(tenant, standing, has.get(tenant.tenantId)) === 'fine')
  if (worst === null) return isFine ? { fine: others, lead: CALM } : { fine: CALM, lead: others }
  const since = worst.since === null ? '' : `Since ${rowTime(worst.since, now.peek())}. `
  return { fine: '', lead: `${since}${worst.advice} ${others}` }
}

/** The rail, the switcher and the title show the same. */
function useShared({ overview, has }: Known, standing: AllStanding): void {
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
