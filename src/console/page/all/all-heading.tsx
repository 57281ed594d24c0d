import type { ComponentChildren } from 'preact'
import { FactSentence } from '../facts/fact-line.tsx'
import { Mute } from '../facts/mute.tsx'
import { Act } from '../overview/heading.tsx'
import { addressOf } from '../state/address.ts'
import { now, rowTime } from '../state/clock.ts'
import type { Known } from './reading.ts'
import { type AllStanding, othersText, stateOf } from './standing-of-all.ts'

interface HeadingProps {
  known: Known
  standing: AllStanding
  /** The content after the buttons. */
  children: ComponentChildren
}

/** Some tenants are not working, although nothing is wrong. */
const CALM = 'Nothing needs attention.'

/** The worst fact of all tenants, with its tenant. Below it: since when, and how the others are. */
export function AllHeading({ known, standing, children }: HeadingProps) {
  const { overview, has } = known
  const { worst } = standing
  const name = overview.tenants.find(({ tenantId }) => tenantId === worst?.tenantId)?.name
  const others = othersText(known, standing)
  const isFine = overview.tenants.every((tenant) => stateOf(tenant, standing, has.get(tenant.tenantId)) === 'fine')
  const [calm, rest] = isFine ? [others, CALM] : [CALM, others]
  return (
    <header class="overview-head">
      <h1>
        {worst === null ? (
          calm
        ) : (
          <>
            <FactSentence fact={worst} />.
          </>
        )}
      </h1>
      <p class="overview-lead">
        {worst === null
          ? rest
          : `${worst.since === null ? '' : `Since ${rowTime(worst.since, now.peek())}. `}${worst.advice} ${others}`}
      </p>
      <div class="actions overview-acts">
        {worst !== null && <Act fact={worst} isFirst />}
        {name !== undefined && (
          <a class="button clip" href={addressOf('overview', { tenant: worst?.tenantId ?? '' })}>
            View {name}
          </a>
        )}
        {worst !== null && <Mute fact={worst} />}
        {children}
      </div>
    </header>
  )
}
