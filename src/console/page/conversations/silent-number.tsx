import type { Fact } from '../facts/fact.ts'
import { FactButton, FactSentence } from '../facts/fact-line.tsx'
import { extensionFacts } from '../facts/facts-of.ts'
import { Icon } from '../parts/icon.tsx'
import { addressOf } from '../state/address.ts'
import { now, rowTime } from '../state/clock.ts'
import { standing } from '../state/standing.ts'
import { cannotSendOf } from '../thread/contact-forms.ts'

/** Why no text can be sent from the tenant's number, since when, and what to press. Nothing if it can send, or while that is unknown. */
export function SilentNumber({ number, isQuiet }: { number: string; isQuiet: boolean }) {
  const extensions = standing.value?.extensions
  if (extensions === undefined || cannotSendOf([number], extensions).length === 0) return null
  const own = extensions.filter(({ phoneNumbers }) => phoneNumbers.includes(number))
  const isUnknown = own.length === 0 && extensions.length > 0
  const [fact = unconnected(number)] = isUnknown ? [] : extensionFacts(own)
  return (
    <section class="notice" aria-label="Number">
      <span class="bad">
        <Icon name="failed" />
      </span>
      <p>
        <b>
          <FactSentence fact={fact} />
          {fact.since !== null && `, since ${rowTime(fact.since, now.peek())}`}.
        </b>{' '}
        {fact.advice}
      </p>
      {fact.action === null ? (
        <a class="button" href={addressOf('numbers')}>
          Show numbers
        </a>
      ) : (
        <FactButton fact={fact} class={isQuiet ? 'button' : 'button primary'} />
      )}
    </section>
  )
}

const unconnected = (number: string): Pick<Fact, 'parts' | 'advice' | 'since' | 'action'> => ({
  parts: [{ number }, ' belongs to no connected extension'],
  advice: 'A text from it fails.',
  since: null,
  action: null,
})
