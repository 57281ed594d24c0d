import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Message, OptOut, OptOutPolicy } from '../../../client/client.ts'
import { CancelMessage } from '../messages/cancel-message.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Icon } from '../parts/icon.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { now, rowTime, utcTime } from '../state/clock.ts'
import { heldText } from './held.ts'
import type { OpenConversation } from './open-conversation.ts'

/** How the contact opted out, without a full stop. */
const SOURCES: Readonly<Record<OptOut['source'], string>> = {
  keyword: 'This person asked for no more texts',
  provider: 'This person asked for no more texts, RingCentral reports',
  api: 'Recorded as opted out by an app or in this console',
}

/** What happens to texts to a contact that has opted out. */
function policyText(policy: OptOutPolicy, source: OptOut['source']): string {
  if (policy === 'block') return 'Texts to them are not sent.'
  return `Texts to them are still sent${source === 'api' ? '.' : ', and RingCentral does not deliver them.'}`
}

const waitingTexts = (count: number): string => (count === 1 ? 'the waiting text' : `the ${count} waiting texts`)

/** Says that the contact has opted out: since when, how, and what happens to texts to it. Empty if it has not. */
export function OptedOut({ conversation }: { conversation: OpenConversation }) {
  const { optOut, policy, late } = conversation
  if (!optOut.value) return null
  const { since, source } = optOut.value
  return (
    <section class="notice" aria-label="Opt-out">
      <Icon name="optedOut" />
      <p>
        {late.value.length > 0 ? (
          <StillSent optOut={optOut.value} late={late.value} />
        ) : (
          <>
            <b>
              {SOURCES[source]}, <time title={utcTime(since)}>{rowTime(since, now.peek())}</time>.
            </b>{' '}
            {policy.value !== null && policyText(policy.value, source)}
          </>
        )}
      </p>
      <span class="actions">
        <CancelLate conversation={conversation} />
        <OptIn conversation={conversation} optOut={optOut.value} isQuiet={late.value.length > 0} />
      </span>
    </section>
  )
}

/** Since when the contact wants no texts, and what goes out anyway. Nothing more: who recorded it cost readers too much time. */
function StillSent({ optOut: { since, source }, late }: { optOut: OptOut; late: readonly Message[] }) {
  const texts = waitingTexts(late.length)
  const { after, why } = heldText(late, now.peek())
  return (
    <>
      <b>
        {source === 'api' ? 'Opt-out recorded' : 'This person opted out'} at{' '}
        <time title={`${SOURCES[source]}, ${utcTime(since)}`}>{rowTime(since, now.peek())}</time>
        {source === 'api'
          ? `, but ${texts} will be sent anyway${after}.`
          : `. RingCentral still gets ${texts}, and does not deliver ${late.length === 1 ? 'it' : 'them'}.`}
      </b>
      {source === 'api' && ` ${why}`}
    </>
  )
}

/** The most urgent action: without it, texts go out to a person who wants none. */
function CancelLate({ conversation }: { conversation: OpenConversation }) {
  /** The texts that the dialog is about, which stay while it is open. */
  const asked = useSignal<readonly string[] | null>(null)
  const close = (): void => void (asked.value = null)
  const ids = conversation.late.value.filter(({ status }) => status === 'queued').map(({ messageId }) => messageId)
  return (
    <>
      {ids.length > 0 && (
        <button type="button" class="button primary" onClick={() => void (asked.value = ids)}>
          Cancel {waitingTexts(ids.length)}…
        </button>
      )}
      {asked.value !== null && (
        <CancelMessage
          to={conversation.contact}
          count={asked.value.length}
          cancel={() => conversation.cancel(asked.value ?? [])}
          close={close}
        />
      )}
    </>
  )
}

interface OptInProps {
  conversation: OpenConversation
  optOut: OptOut
  /** Whether another button should be pressed first. */
  isQuiet: boolean
}

function OptIn({ conversation, optOut: { since, source }, isQuiet }: OptInProps) {
  const isAsked = useSignal(false)
  return (
    <>
      <button type="button" class={isQuiet ? 'button quiet' : 'button'} onClick={() => void (isAsked.value = true)}>
        Opt in again…
      </button>
      {isAsked.value && (
        <Confirm
          title="Opt in again"
          button="Opt in"
          run={() => conversation.setOptOut(false)}
          close={() => void (isAsked.value = false)}
        >
          <PhoneNumber value={conversation.contact} /> opted out {rowTime(since, now.peek())}. {SOURCES[source]}. Do
          this only if they have agreed to get texts again. RingCentral keeps a list of its own, which only a START from
          their phone changes.
        </Confirm>
      )}
    </>
  )
}

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
      {last !== undefined && ` Its last text came at ${rowTime(last.createdAt, now.peek())}.`} Your apps are told.{' '}
      {policy.value !== null && `The policy is ${policy.value}. ${policyText(policy.value, 'api')}`}
      {policy.value === 'block' && count > 0 && ` That includes ${waitingTexts(count)} now.`}
    </Confirm>
  )
}
