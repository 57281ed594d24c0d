import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { OptOut, OptOutPolicy } from '../../../client/client.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Icon } from '../parts/icon.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { now, rowTime, utcTime } from '../state/clock.ts'
import type { OpenConversation } from './open-conversation.ts'

/** By what the contact opted out, without the full stop. */
const SOURCES: Readonly<Record<OptOut['source'], string>> = {
  keyword: 'This person asked for no more texts',
  provider: 'This person asked for no more texts, RingCentral reports',
  api: 'Recorded as opted out by an app or in this console',
}

/** What becomes of texts to a contact that has opted out. */
function policyText(policy: OptOutPolicy, source: OptOut['source']): string {
  if (policy === 'block') return 'Texts to them are not sent.'
  return `Texts to them are still sent${source === 'api' ? '.' : ', and RingCentral does not deliver them.'}`
}

/** That the contact has opted out: since when, by what, and what becomes of texts to it. Nothing if it has not. */
export function OptedOut({ conversation }: { conversation: OpenConversation }) {
  const { optOut, policy, contact } = conversation
  const isAsked = useSignal(false)
  if (!optOut.value) return null
  const { since, source } = optOut.value
  return (
    <section class="notice" aria-label="Opt-out">
      <Icon name="optedOut" />
      <p>
        <b>
          {SOURCES[source]}, <time title={utcTime(since)}>{rowTime(since, now.peek())}</time>.
        </b>{' '}
        {policy.value !== null && policyText(policy.value, source)}
        {policy.value === 'observe' && conversation.waiting.value.length > 0 && ' What waits goes out, too.'}
      </p>
      <button type="button" class="button" onClick={() => void (isAsked.value = true)}>
        Opt in again…
      </button>
      {isAsked.value && (
        <Confirm
          title="Opt in again"
          button="Opt in"
          run={() => conversation.setOptOut(false)}
          close={() => void (isAsked.value = false)}
        >
          <PhoneNumber value={contact} /> opted out {rowTime(since, now.peek())}. {SOURCES[source]}. Do this only if
          they have agreed to get texts again. RingCentral keeps a list of its own, which only a START from their phone
          changes.
        </Confirm>
      )}
    </section>
  )
}

/** Asks before an opt-out is recorded, with what that does to the texts that wait. */
export function RecordOptOut({ conversation, close }: { conversation: OpenConversation; close: () => void }) {
  const { number, contact, policy } = conversation
  // Without it the question can be answered all the same.
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
      {last !== undefined && ` It texted last at ${rowTime(last.createdAt, now.peek())}.`} Your apps are told.{' '}
      {policy.value !== null && policyText(policy.value, 'api')}
      {policy.value === 'block' &&
        count > 0 &&
        ` That includes ${count === 1 ? 'the text that waits' : `the ${count} texts that wait`} now.`}
    </Confirm>
  )
}
