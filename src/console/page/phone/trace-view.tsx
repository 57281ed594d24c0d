import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import './trace.css'
import { CopyButton } from '../parts/copy.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import type { TracedConversation } from './traced-conversation.ts'
import { FirstSteps, ThenTry } from './first-steps.tsx'
import { Sequence } from './sequence.tsx'
import type { StepDetail } from './step-detail.ts'

/** Every step of the newest texts, with request and response of a chosen one. Before the first text: what to try. */
export default function TraceView({ conversation, isEmpty }: { conversation: TracedConversation; isEmpty: boolean }) {
  const { chosen } = conversation
  return (
    <>
      <div class="trace">
        <Sequence conversation={conversation} />
        {isEmpty && <FirstSteps conversation={conversation} />}
      </div>
      {chosen.value === null && <ThenTry conversation={conversation} />}
      {chosen.value !== null && (
        <StepDetails key={chosen.value.id} detail={chosen.value.detail} close={() => void (chosen.value = null)} />
      )}
    </>
  )
}

function StepDetails({ detail, close }: { detail: StepDetail; close: () => void }) {
  const { title, request, response, note, isBad } = detail
  const side = useSignal(isBad ? 'Response' : 'Request')
  // The details take space from the steps, so the chosen one may no longer be visible.
  useEffect(() => document.querySelector('.step[aria-pressed=true]')?.scrollIntoView({ block: 'nearest' }), [detail])
  const shown = (side.value === 'Response' && response) || request
  return (
    <section class="exchange" aria-label="The chosen step">
      <header class="line">
        <b>{title}</b>
        {response !== null && (
          <div class="segmented">
            {['Request', 'Response'].map((name) => (
              <button type="button" aria-pressed={side.value === name} onClick={() => void (side.value = name)}>
                {name}
              </button>
            ))}
          </div>
        )}
        <CopyButton text={shown} label="Copy this" />
        <IconButton class="tiny" icon="failed" label="Close the step" run={close} />
      </header>
      {note !== undefined && <p class="small dim exchange-note">{note}</p>}
      <pre class="mask">{shown}</pre>
    </section>
  )
}
