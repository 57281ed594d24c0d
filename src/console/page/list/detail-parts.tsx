import type { ComponentChildren } from 'preact'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { close } from './cursor.ts'
import './detail-head.css'
import './detail.css'
import './print.css'

interface DetailHeadProps {
  id: string
  /** `message`; for the labels of copy, previous and next. */
  noun: string
  /** Null if there is nothing before or after. */
  move: ((step: number) => void) | null
}

/** The head of the open item: its id, and the buttons to its neighbors and back. */
export const DetailHead = ({ id, noun, move }: DetailHeadProps) => (
  <header class="line detail-head">
    <button type="button" class="icon-button back" aria-label="Back to the list" onClick={close}>
      <Icon name="left" />
    </button>
    <span class="mono clip">{id}</span>
    <CopyButton text={id} label={`Copy the ${noun} id`} />
    <span class="rail-space" />
    {move !== null && (
      <>
        <button
          type="button"
          class="icon-button"
          aria-label={`Previous ${noun}`}
          title="Previous (k)"
          onClick={() => move(-1)}
        >
          <Icon name="up" />
        </button>
        <button type="button" class="icon-button" aria-label={`Next ${noun}`} title="Next (j)" onClick={() => move(1)}>
          <Icon name="down" />
        </button>
      </>
    )}
    <button type="button" class="icon-button shut" aria-label="Close" title="Close (Esc)" onClick={close}>
      <Icon name="failed" />
    </button>
  </header>
)

/** Names and values, in a section that folds. */
export const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <details open>
    <summary class="line">
      <Icon name="M9 18l6-6-6-6" />
      Details
    </summary>
    <dl class="facts">
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  </details>
)

/** What the API returned, in a section that unfolds. */
export const Json = ({ value }: { value: unknown }) => (
  <details class="print-hidden">
    <summary class="line">
      <Icon name="M9 18l6-6-6-6" />
      JSON <span>as the API returns it</span>
    </summary>
    <pre class="mask">{JSON.stringify(value, null, 2)}</pre>
  </details>
)
