import type { ComponentChild, ComponentType } from 'preact'
import type { Fact } from '../facts/fact.ts'
import { FactButton, FactSentence } from '../facts/fact-line.tsx'
import { Mute } from '../facts/mute.tsx'
import { Button } from '../parts/button.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { clockTime } from '../state/clock.ts'
import { addressOf, param, refine } from '../state/address.ts'
import type { Reading } from '../state/keep-reading.ts'
import { checksAsked } from './machine.ts'
import { DAY, MONTH, RANGES, type Range } from './ranges.ts'
import './overview.css'

export interface PageProps<Known> {
  known: Known
  /** Says that it could not be read again. */
  stale: ComponentChild
}

interface StartPageProps<Known> {
  /** What is read: `The overview`. */
  what: string
  reading: Reading<Known>
  Page: ComponentType<PageProps<Known>>
}

/** A page about what is wrong: its parts, or why it could not be read. */
export function StartPage<Known extends { readAt: number }>({ what, reading, Page }: StartPageProps<Known>) {
  const { value, error, again } = reading
  const known = value.value
  if (known === null)
    return (
      <div class="scroller">
        <div class="overview-in no-messages">
          <LoadFailed what={what} error={error.value} again={again} />
        </div>
      </div>
    )
  const stale = error.value !== '' && (
    <p class="bad" role="status">
      {error.value} Below is what was known at {clockTime(known.readAt)}.
    </p>
  )
  return (
    <div class="scroller overview">
      <div class="stack overview-in">
        <Page known={known} stale={stale} />
      </div>
    </div>
  )
}

interface HeadingProps {
  worst: Fact | null
  /** What the heading says if nothing is wrong. */
  fine: ComponentChild
  lead: ComponentChild
  /** The content after the first button, and after all. */
  beside?: ComponentChild
  children: ComponentChild
}

/** The worst trouble, in one sentence; below it since when, what ends it, and what to press. */
export const Heading = ({ worst, fine, lead, beside, children }: HeadingProps) => (
  <header class="overview-head">
    <h1>
      {worst === null ? (
        fine
      ) : (
        <>
          <FactSentence fact={worst} />.
        </>
      )}
    </h1>
    <p class="overview-lead">{lead}</p>
    <div class="actions overview-acts">
      {worst !== null && <Act fact={worst} isFirst />}
      {beside}
      {worst !== null && <Mute fact={worst} />}
      {children}
    </div>
  </header>
)

export const rangeShown = (): Range => RANGES.find(({ name }) => name === param('range')) ?? DAY

/** Chooses the range of the figures. `month` is the name of the longest one. */
export const Ranges = ({ month = MONTH.label }: { month?: string }) => (
  <div class="segmented" role="group" aria-label="Range of the figures">
    {RANGES.map((range) => (
      <button
        type="button"
        aria-pressed={range === rangeShown()}
        onClick={() => refine({ range: range === DAY ? '' : range.name })}
      >
        {range === MONTH ? month : range.label}
      </button>
    ))}
  </div>
)

const ROWS: Readonly<Record<string, string>> = { waiting: 'waits', undelivered: 'was not delivered' }

/** What to press about a fact: its own button, or a link to the rows that it counts. */
export function Act({ fact, isFirst = false }: { fact: Fact; isFirst?: boolean }) {
  const look = isFirst ? 'button primary' : 'button'
  if (fact.action?.type === 'show checks')
    return <Button text="Show the checks" class={look} run={() => checksAsked.value++} />
  if (fact.action !== null) return <FactButton fact={fact} class={look} delivers={isFirst ? 'heading' : 'row'} />
  const link = fact.parts.find((part) => typeof part !== 'string' && 'view' in part)
  if (link === undefined || typeof link === 'string' || !('view' in link)) return null
  return (
    <a class={look} href={addressOf(link.view, link.params)}>
      {link.view === 'numbers' ? 'Show extension' : `Show what ${ROWS[link.params['state'] ?? ''] ?? 'failed'}`}
    </a>
  )
}
