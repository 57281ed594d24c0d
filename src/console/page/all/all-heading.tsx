import type { ComponentChildren } from 'preact'
import { FactButton, FactSentence } from '../facts/fact-line.tsx'
import { Mute } from '../facts/mute.tsx'
import { ShowChecks } from '../overview/heading.tsx'
import { addressOf } from '../state/address.ts'
import { count, now, rowTime } from '../state/clock.ts'
import type { Known } from './reading.ts'
import { type AllStanding, inWords, othersText } from './standing-of-all.ts'

interface HeadingProps {
  known: Known
  standing: AllStanding
  changed: () => void
  /** What stands at the end of the row of buttons. */
  children: ComponentChildren
}

/** The worst over all, with its tenant; beneath it since when, and how the others are. */
export function AllHeading({ known, standing, changed, children }: HeadingProps) {
  const { total, tenants } = known.overview
  const { worst } = standing
  const name = tenants.find(({ tenantId }) => tenantId === worst?.tenantId)?.name
  return (
    <header class="overview-head">
      <h1>{worst === null ? `All ${count(total)} tenants are fine` : <FactSentence fact={worst} />}.</h1>
      <p class="overview-lead">
        {worst === null
          ? `Nothing needs you. ${stoppedText(known)}`
          : `${worst.since === null ? '' : `Since ${rowTime(worst.since, now.peek())}. `}${worst.advice} ${othersText(standing, total)}`}
      </p>
      <div class="actions overview-acts">
        {worst?.action?.type === 'show checks' && <ShowChecks class="button primary" />}
        {worst !== null && <FactButton fact={worst} class="button primary" />}
        {name !== undefined && (
          <a class="button clip" href={addressOf('overview', { tenant: worst?.tenantId ?? '' })}>
            Look at {name}
          </a>
        )}
        {worst !== null && <Mute fact={worst} changed={changed} />}
        {children}
      </div>
    </header>
  )
}

/** What is so on purpose, or not begun: no trouble, and yet not at work. */
function stoppedText({ overview: { tenants }, has }: Known): string {
  const suspended = tenants.filter(({ status }) => status === 'suspended').length
  const unconnected = tenants.filter(
    ({ tenantId, status }) => status === 'active' && has.get(tenantId)?.extensions === 0,
  ).length
  return [
    suspended > 0 && `${inWords(suspended)} ${suspended === 1 ? 'is' : 'are'} suspended.`,
    unconnected > 0 && `${inWords(unconnected)} ${unconnected === 1 ? 'has' : 'have'} no number.`,
  ]
    .filter((part) => part !== false)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join(' ')
}
