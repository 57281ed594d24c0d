import { useSignal } from '@preact/signals'
import './trace.css'
import type { TracedConversation } from './traced-conversation.ts'
import { FirstSteps, ThenTry } from './first-steps.tsx'
import { Sequence } from './sequence.tsx'
import { StepDetails } from './step-details.tsx'
import type { Step } from './step.ts'

/** Every step of the newest texts, and request and response of a chosen one. Before the first text: what to try. */
export function TraceView({ conversation, isEmpty }: { conversation: TracedConversation; isEmpty: boolean }) {
  const chosen = useSignal<Step | null>(null)
  return (
    <>
      <div class="trace">
        <Sequence conversation={conversation} chosen={chosen} />
        {isEmpty && <FirstSteps conversation={conversation} />}
      </div>
      {chosen.value === null && <ThenTry conversation={conversation} />}
      {chosen.value?.detail && (
        <StepDetails key={chosen.value.key} detail={chosen.value.detail} close={() => void (chosen.value = null)} />
      )}
    </>
  )
}
