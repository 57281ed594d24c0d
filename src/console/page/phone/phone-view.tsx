import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { client } from '../state/caller.ts'
import { onEvent } from '../state/live.ts'
import { Composer } from './composer.tsx'
import { Conversation } from './conversation.ts'
import { Handset } from './handset.tsx'
import { usePair } from './pair.ts'
import { FirstSteps, ThenTry } from './first-steps.tsx'
import { Sequence } from './sequence.tsx'
import { StepDetails } from './step-details.tsx'
import type { Step } from './steps.ts'

/** Development's start page: a text from the app, the phone that gets it, and every step between them. */
export function PhoneView() {
  const pair = usePair()
  const chosen = useSignal<Step | null>(null)
  const conversation = useConversation(pair?.number ?? '', pair?.contact ?? '')
  useEffect(() => void (document.title = 'Phone – sgw'), [])
  if (pair === null || conversation === null) return null
  const isEmpty = conversation.isLoaded.value && conversation.messages.value.length === 0
  return (
    <div class={isEmpty ? 'phone first' : 'phone'}>
      <div class="phone-left">
        <header class="phone-head">
          <h1>This phone is simulated. Nothing leaves your machine.</h1>
          <p class={isEmpty ? 'dim' : 'dim lead'}>
            {isEmpty
              ? 'Press “Send the first text”. It travels from your app to the phone, and every step shows up here.'
              : 'Send a text from your app, answer it on the phone, and watch every step between.'}
          </p>
        </header>
        <Composer conversation={conversation} isFirst={isEmpty} />
        <div class="trace">
          <Sequence conversation={conversation} chosen={chosen} />
          {isEmpty && <FirstSteps conversation={conversation} />}
        </div>
        {chosen.value === null && <ThenTry conversation={conversation} />}
        {chosen.value?.detail && (
          <StepDetails key={chosen.value.key} detail={chosen.value.detail} close={() => void (chosen.value = null)} />
        )}
      </div>
      <Handset conversation={conversation} />
    </div>
  )
}

function useConversation(number: string, contact: string): Conversation | null {
  const sgw = client.value
  const conversation = useMemo(
    () => (sgw === null || number === '' ? null : new Conversation(sgw, number, contact)),
    [sgw, number, contact],
  )
  useEffect(() => {
    if (conversation === null) return
    void conversation.read()
    const ignore = onEvent((event) => conversation.note(event))
    return () => {
      ignore()
      conversation.stop()
    }
  }, [conversation])
  return conversation
}
