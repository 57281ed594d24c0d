import { Loaded } from '../frame/loaded.tsx'
import { Icon } from '../parts/icon.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { addressOf } from '../state/address.ts'
import { now, rowTime } from '../state/clock.ts'
import { isFirstLoadOver } from '../state/live.ts'
import type { CureProps, LostActsProps } from './cures-view.tsx'
import type { Fact } from './fact.ts'

/** The sentence of a fact with links in it, without a period. */
export const FactSentence = ({ fact }: { fact: Pick<Fact, 'parts'> }) => (
  <>
    {fact.parts.map((part) => {
      if (typeof part === 'string') return part
      if ('number' in part) return <PhoneNumber value={part.number} />
      return (
        <a class="link" href={addressOf(part.view, part.params)}>
          {part.text}
        </a>
      )
    })}
  </>
)

/** Under the heading: since when, what to keep in mind, and one button. */
export function FactRest({ fact }: { fact: Fact }) {
  const since = fact.since === null ? '' : `Since ${rowTime(fact.since, now.peek())}. `
  return (
    <p class="sentence-rest">
      <span class="dim">{since + fact.advice}</span>
      <FactButton fact={fact} class="button primary" />
    </p>
  )
}

/** A fact in a row of its own, as under "Also needs attention". */
export const FactLine = ({ fact }: { fact: Fact }) => (
  <li class="fact">
    <span class={fact.kind}>
      <Icon name={fact.icon} />
    </span>
    <span>
      <FactSentence fact={fact} />
      {fact.since !== null && <span class="dim">, since {rowTime(fact.since, now.peek())}</span>}.
      <span class="dim advice"> {fact.advice}</span>
      <FactButton fact={fact} />
    </span>
  </li>
)

const load = () => import('./cures-view.tsx')

/**
 * The only button of a fact, in a separate file, because most days have no fact. If the links of the sentence lead to the same place, the file
 * comes after the first load, which stays small. `class` is that of the button to press first.
 */
export const FactButton = (props: CureProps) =>
  props.fact.action !== null && (isFirstLoadOver.value || props.delivers !== undefined) ? (
    <Loaded load={load} props={props} around={null} />
  ) : null

const loadLost = async () => ({ default: (await import('./cures-view.tsx')).LostActs })

/** The actions for deliveries that never arrived, in the file of all actions, after the first load, which stays small. */
export const LostActs = (props: LostActsProps) =>
  isFirstLoadOver.value && props.destination.neverArrived > 0 ? (
    <Loaded load={loadLost} props={props} around={null} />
  ) : null
