import type { ComponentChild } from 'preact'
import { CopyButton } from '../parts/copy.tsx'
import type { IconName } from '../parts/icon-paths.ts'
import { Icon } from '../parts/icon.tsx'
import { now, rowTime, utcTime } from '../state/clock.ts'

interface ThingProps {
  /** What a link to it names. */
  id?: string
  name: string
  icon: IconName
  kind?: 'bad' | 'warn' | 'dim'
  note?: ComponentChild
  state?: string
  buttons: ComponentChild
  /** An address or an id is wide: it takes two columns. */
  facts: readonly (readonly [name: string, value: ComponentChild, width?: 'wide'])[]
  children?: ComponentChild
}

/** An extension, an app or a tenant: its state, what a person can do with it, and what is known about it. */
export const Thing = ({ id, name, icon, kind = 'dim', note, state, buttons, facts, children }: ThingProps) => (
  <li class="thing" data-id={id} tabIndex={-1} aria-label={name}>
    <div class="line thing-head">
      <span class={kind}>
        <Icon name={icon} />
      </span>
      <h2>{name}</h2>
      {note && <span class="dim">{note}</span>}
      {state && <span class={`state ${kind}`}>{state}</span>}
    </div>
    {children}
    {buttons && <div class="actions thing-buttons">{buttons}</div>}
    <dl class="thing-facts">
      {facts.map(([label, value, width]) => (
        <div key={label} class={width}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  </li>
)

export const Id = ({ id }: { id: string }) => (
  <>
    <span class="mono">{id}</span>
    <CopyButton text={id} label="Copy the id" />
  </>
)

/** A time, with UTC in its tooltip; unknown is a dash. */
export const Time = ({ at }: { at: string | null }) =>
  at === null ? (
    <>–</>
  ) : (
    <time dateTime={at} title={utcTime(at)}>
      {rowTime(at, now.value)}
    </time>
  )
