import type { ComponentChildren } from 'preact'
import type { Fact } from '../facts/fact.ts'
import { FactButton, FactSentence } from '../facts/fact-line.tsx'
import { Mute } from '../facts/mute.tsx'
import { accountedIn, failedIn, waitsOf } from '../facts/facts-of.ts'
import { WAIT_ADVICE } from '../messages/wait-words.ts'
import { hasLinks } from '../frame/panel.ts'
import { Refused } from '../parts/refused.tsx'
import { useAct } from '../parts/act.ts'
import { addressOf } from '../state/address.ts'
import { asApp } from '../state/caller.ts'
import { latest } from '../parts/ends.ts'
import { count, dayOf, duration, now, rowTime } from '../state/clock.ts'
import type { Standing } from '../state/standing.ts'
import { checksAsked } from './machine.ts'
import { numbersSentence } from './wire.ts'

interface HeadingProps {
  worst: Fact | null
  standing: Standing
  /** The content after the buttons. */
  children: ComponentChildren
}

/** The worst trouble, in one sentence; below it since when, what ends it, and what to press. */
export const Heading = ({ worst, standing, children }: HeadingProps) => (
  <header class="overview-head">
    <h1>
      {worst === null ? (
        <FactSentence fact={{ parts: numbersSentence(standing.extensions, now.value) }} />
      ) : (
        <FactSentence fact={worst} />
      )}
      .
    </h1>
    <p class="overview-lead">
      {worst === null ? <FineLead standing={standing} /> : <Lead fact={worst} standing={standing} />}
    </p>
    <div class="actions overview-acts">
      {worst !== null && <Act fact={worst} isFirst />}
      {worst !== null && <Mute fact={worst} />}
      {children}
    </div>
  </header>
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

const LastText = ({ at }: { at: string }) => (
  <>
    The last text arrived{' '}
    {dayOf(at) === dayOf(now.value) ? (
      <>
        <b>{whole(now.value - Date.parse(at))}</b> ago
      </>
    ) : (
      <b>{rowTime(at, now.value)}</b>
    )}
    .
  </>
)

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

const ROWS: Readonly<Record<string, string>> = { waiting: 'waits', undelivered: 'was not delivered' }

/** What to press about a fact: its own button, or a link to the rows that it counts. */
export function Act({ fact, isFirst = false }: { fact: Fact; isFirst?: boolean }) {
  const look = isFirst ? 'button primary' : 'button'
  if (fact.key === 'not connected') return <Connect />
  if (fact.action?.type === 'show checks') return <ShowChecks class={look} />
  if (fact.action !== null) return <FactButton fact={fact} class={look} delivers={isFirst ? 'heading' : 'row'} />
  const link = fact.parts.find((part) => typeof part !== 'string' && 'view' in part)
  if (link === undefined || typeof link === 'string' || !('view' in link)) return null
  return (
    <a class={look} href={addressOf(link.view, link.params)}>
      {link.view === 'numbers' ? 'Show extension' : `Show what ${ROWS[link.params['state'] ?? ''] ?? 'failed'}`}
    </a>
  )
}

const ShowChecks = ({ class: className }: { class: string }) => (
  <button type="button" class={className} onClick={() => void checksAsked.value++}>
    Show the checks
  </button>
)

/** Leads the owner of an extension to RingCentral's consent page, and somebody else to a link for the owner. */
function Connect() {
  const { act, error } = useAct()
  const connect = async (): Promise<void> => location.assign(await asApp().connection.connectLink())
  return (
    <>
      {hasLinks() && (
        <button type="button" class="button primary" onClick={() => void act(connect)}>
          Connect
        </button>
      )}
      <FactButton fact={{ action: { type: 'invite' } }} />
      <Refused error={error.value} />
    </>
  )
}
