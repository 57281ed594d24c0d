import { useSignal } from '@preact/signals'
import type { Fact } from '../facts/fact.ts'
import { FactSentence } from '../facts/fact-line.tsx'
import { Mute, Muted } from '../facts/mute.tsx'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { now, rowTime, utcTime } from '../state/clock.ts'
import { Act } from './start-page.tsx'

/** More than these are shown on demand: the worst come first. */
const SHOWN_AT_FIRST = 5

/** What else is wrong, one row each: icon, sentence, since when, mute, one button. Muted rows are below. */
export function Needs({ facts, muted, of = '' }: { facts: readonly Fact[]; muted: readonly Fact[]; of?: string }) {
  const isWhole = useSignal(false)
  if (facts.length + muted.length === 0) return null
  const shown = isWhole.value ? facts : facts.slice(0, SHOWN_AT_FIRST)
  return (
    <section class="needs" aria-labelledby="needs">
      <h2 id="needs">
        Also needs attention <span class="dim needs-of">{of}</span>
      </h2>
      <ul>
        {shown.map((fact) => (
          <Need key={fact.key} fact={fact} />
        ))}
        {muted.map((fact) => (
          <Muted key={fact.key} fact={fact} />
        ))}
      </ul>
      {facts.length > shown.length && (
        <Button
          text={`Show ${facts.length - shown.length} more`}
          class="button quiet"
          run={() => (isWhole.value = true)}
        />
      )}
    </section>
  )
}

const Need = ({ fact }: { fact: Fact }) => (
  <li class="columns">
    <span class={fact.kind}>
      <Icon name={fact.icon} />
    </span>
    <p>
      <span class="need-what">
        <FactSentence fact={fact} />.
      </span>{' '}
      <span class="dim">{fact.advice}</span>
    </p>
    {fact.since === null ? (
      <span />
    ) : (
      <time dateTime={fact.since} title={utcTime(fact.since)}>
        since {rowTime(fact.since, now.peek())}
      </time>
    )}
    <Mute fact={fact} />
    <Act fact={fact} />
  </li>
)
