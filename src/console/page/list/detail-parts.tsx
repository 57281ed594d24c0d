import type { ComponentChildren } from 'preact'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Bar } from './bar.tsx'
import { close } from './cursor.ts'
import './detail.css'

interface DetailHeadProps {
  id: string
  /** `message`; for the labels of copy, previous and next. */
  noun: string
  /** Null if there is nothing before or after. */
  move: ((step: number) => void) | null
}

/** The head of the open item: its id, and the buttons to its neighbors and back. */
export function DetailHead({ id, noun, move }: DetailHeadProps) {
  const title = (
    <>
      <span class="mono clip">{id}</span>
      <CopyButton text={id} label={`Copy the ${noun} id`} />
    </>
  )
  return (
    <Bar title={title} close={close}>
      {move !== null && (
        <>
          <IconButton icon="up" label={`Previous ${noun}`} title="Previous (k)" run={() => move(-1)} />
          <IconButton icon="down" label={`Next ${noun}`} title="Next (j)" run={() => move(1)} />
        </>
      )}
    </Bar>
  )
}

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
