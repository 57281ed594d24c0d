import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import type { StepDetail } from './step-detail.ts'

/** Request and response of the chosen step. */
export function StepDetails({ detail, close }: { detail: StepDetail; close: () => void }) {
  const side = useSignal<'request' | 'response'>(detail.isBad === true ? 'response' : 'request')
  // The details take space from the steps, so the chosen one may no longer be visible.
  useEffect(() => document.querySelector('.step[aria-pressed=true]')?.scrollIntoView({ block: 'nearest' }), [detail])
  const shown = side.value === 'response' && detail.response !== null ? detail.response : detail.request
  return (
    <section class="exchange" aria-label="The chosen step">
      <header class="line">
        <b>{detail.title}</b>
        {detail.response !== null && (
          <div class="segmented">
            <SideButton
              name="Request"
              isChosen={side.value === 'request'}
              choose={() => void (side.value = 'request')}
            />
            <SideButton
              name="Response"
              isChosen={side.value === 'response'}
              choose={() => void (side.value = 'response')}
            />
          </div>
        )}
        <CopyButton text={shown} label="Copy this" />
        <button type="button" class="icon-button tiny" aria-label="Close the step" onClick={close}>
          <Icon name="failed" />
        </button>
      </header>
      {detail.note !== undefined && <p class="small dim exchange-note">{detail.note}</p>}
      <pre class="mask">{shown}</pre>
    </section>
  )
}

const SideButton = ({ name, isChosen, choose }: { name: string; isChosen: boolean; choose: () => void }) => (
  <button type="button" aria-pressed={isChosen} onClick={choose}>
    {name}
  </button>
)
