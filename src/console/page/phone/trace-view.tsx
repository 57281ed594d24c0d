import { useSignal } from '@preact/signals'
import './trace.css'
import type { TracedConversation } from './traced-conversation.ts'
import { FirstSteps, ThenTry } from './first-steps.tsx'
import { type Chosen, Sequence } from './sequence.tsx'
import { StepDetails } from './step-details.tsx'

/** Every step of the newest texts, with request and response of a chosen one. Before the first text: what to try. */
export default function TraceView({ conversation, isEmpty }: { conversation: TracedConversation; isEmpty: boolean }) {
  const chosen = useSignal<Chosen['value']>(null)
  return (
    <>
      <div class="trace">
        <Sequence conversation={conversation} chosen={chosen} />
        {isEmpty && <FirstSteps conversation={conversation} />}
      </div>
      {chosen.value === null && <ThenTry conversation={conversation} />}
      {chosen.value !== null && (
        <StepDetails key={chosen.value.id} detail={chosen.value.detail} close={() => void (chosen.value = null)} />
      )}
    </>
  )
}
