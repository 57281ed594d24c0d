import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { OptOut, OptOutPolicy } from '../../../client/client.ts'
import { CancelMessage } from '../messages/cancel-message.tsx'
import { Button } from '../parts/button.tsx'
import { Ask, Confirm } from '../parts/confirm.tsx'
import { Icon } from '../parts/icon.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { now, rowTime, utcTime } from '../state/clock.ts'
import type { OpenConversation } from './open-conversation.ts'

/** How the contact opted out, without a period. */
const SOURCES: Readonly<Record<OptOut['source'], string>> = {
  keyword: 'This person asked for no more texts',
  provider: 'This person asked for no more texts, RingCentral reports',
  api: 'Recorded as opted out by an app or in this console',
}

/** What happens to texts to a contact that has opted out. */
function policyText(policy: OptOutPolicy, source: OptOut['source']): string {
  if (policy === 'block') return 'Texts to this contact are not sent.'
  return `Texts to this contact are still sent${source === 'api' ? '.' : ', and RingCentral does not deliver them.'}`
}

const waitingTexts = (count: number): string => (count === 1 ? 'the waiting text' : `the ${count} waiting texts`)

/** Says that the contact has opted out: since when, how, and what happens to texts to it. Empty if it has not. */
export function OptedOut({ conversation }: { conversation: OpenConversation }) {
  const { contact, optOut, policy, late } = conversation
  /** The texts that the dialog is about, which stay while it is open. */
  const asked = useSignal<readonly string[] | null>(null)
  if (!optOut.value) return null
  const count = late.value.length
  // What should be done first: without it texts go out to a person who wants none.
  const ids = late.value.filter(({ status }) => status === 'queued').map(({ messageId }) => messageId)
  return (
    <section class="notice" aria-label="Opt-out">
      <Icon name="optedOut" />
      <Told optOut={optOut.value} policy={policy.value} count={count} />
      <span class="actions">
        {ids.length > 0 && (
          <Button text={`Cancel ${waitingTexts(ids.length)}…`} class="button primary" run={() => (asked.value = ids)} />
        )}
        <OptIn conversation={conversation} optOut={optOut.value} isQuiet={count > 0} />
        {asked.value !== null && (
          <CancelMessage
            to={contact}
            count={asked.value.length}
            cancel={() => conversation.cancel(asked.value ?? [])}
            close={() => void (asked.value = null)}
          />
        )}
      </span>
    </section>
  )
}

interface ToldProps {
  optOut: OptOut
  policy: OptOutPolicy | null
  /** How many texts go out anyway. */
  count: number
}

/**
 * By what the contact opted out, since when, and what the policy does. While texts go out anyway, only since when, and that: who recorded it
 * cost readers too much time.
 */
function Told({ optOut: { since, source }, policy, count }: ToldProps) {
  const at = <time title={`${SOURCES[source]}, ${utcTime(since)}`}>{rowTime(since, now.peek())}</time>
  if (count === 0)
    return (
      <p>
        <b>
          {SOURCES[source]}, {at}.
        </b>{' '}
        {policy !== null && policyText(policy, source)}
      </p>
    )
  return (
    <p>
      <b>
        {source === 'api' ? 'Opt-out recorded' : 'This person opted out'} at {at}
        {source === 'api'
          ? `, but ${waitingTexts(count)} will be sent anyway.`
          : `. RingCentral still gets ${waitingTexts(count)}, and does not deliver ${count === 1 ? 'it' : 'them'}.`}
      </b>
    </p>
  )
}

interface OptInProps {
  conversation: OpenConversation
  optOut: OptOut
  /** Whether another button should be pressed first. */
  isQuiet: boolean
}

const OptIn = ({ conversation, optOut: { since, source }, isQuiet }: OptInProps) => (
  <Ask
    label="Opt in again…"
    class={isQuiet ? 'button quiet' : 'button'}
    title="Opt in again"
    button="Opt in"
    run={() => conversation.setOptOut(false)}
  >
    <PhoneNumber value={conversation.contact} /> opted out {rowTime(since, now.peek())}. {SOURCES[source]}. Do this only
    if they have agreed to get texts again. RingCentral keeps a list of its own, which only a START from their phone
    changes.
  </Ask>
)

/** Asks before an opt-out is recorded, and says what happens to the waiting texts. */
export function RecordOptOut({ conversation, close }: { conversation: OpenConversation; close: () => void }) {
  const { number, contact, policy } = conversation
  // The question can be answered even without it.
  useEffect(() => void conversation.readPolicy().catch(() => undefined), [])
  const count = conversation.waiting.value.length
  const last = conversation.messages.value.findLast(({ direction }) => direction === 'inbound')
  return (
    <Confirm
      title="Record an opt-out"
      button="Record opt-out"
      isDanger
      run={() => conversation.setOptOut(true)}
      close={close}
    >
      <PhoneNumber value={contact} /> wants no more texts from <PhoneNumber value={number} />.
      {last !== undefined && ` Its last text came at ${rowTime(last.createdAt, now.peek())}.`}{' '}
      {policy.value !== null && `The policy is ${policy.value}. ${policyText(policy.value, 'api')}`}
      {policy.value === 'block' && count > 0 && ` That includes ${waitingTexts(count)} now.`} Your apps are told.
    </Confirm>
  )
}
