import type { Signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Message } from '../../../client/client.ts'
import { preciseTime, utcTime } from '../state/clock.ts'
import type { Conversation } from './conversation.ts'
import { STATIONS, type Step, stepsOf } from './steps.ts'

/** Every step of the newest texts between app, gateway, RingCentral and phone. */
export function Sequence({ conversation, chosen }: { conversation: Conversation; chosen: Signal<Step | null> }) {
  const box = useRef<HTMLElement>(null)
  const groups = conversation.traced.value.map((message) => ({ message, steps: stepsOf(message, conversation) }))
  const length = groups.reduce((sum, { steps }) => sum + steps.length, 0)
  useLayoutEffect(() => {
    // Where the steps scroll with the whole page, a new one does not pull the page down.
    const scroller = box.current?.parentElement
    scroller?.scrollTo({ top: scroller.scrollHeight })
  }, [length])
  return (
    <section class="sequence" aria-label="Every step" ref={box}>
      <div class="stations">
        <span />
        <div class="lanes">
          {STATIONS.map((name) => (
            <b key={name}>{name}</b>
          ))}
        </div>
        <span />
      </div>
      {groups.length === 0 && (
        <div class="step blank">
          <span />
          <span class="lanes lines" />
          <span />
        </div>
      )}
      {groups.map(({ message, steps }) => (
        <Group key={message.messageId} message={message} steps={steps} chosen={chosen} />
      ))}
    </section>
  )
}

const Group = ({
  message,
  steps,
  chosen,
}: {
  message: Message
  steps: readonly Step[]
  chosen: Signal<Step | null>
}) => (
  <>
    <div class="step group-head">
      <span />
      <span class="lanes lines">
        <span class="group-title">
          <span class="mask">“{message.body}”</span>
          <span class="dim">from {message.direction === 'inbound' ? 'the contact' : 'your app'}</span>
        </span>
      </span>
      <span />
    </div>
    {steps.map((step) => (
      <StepLine key={step.key} id={`${message.messageId} ${step.key}`} step={step} chosen={chosen} />
    ))}
  </>
)

function StepLine({ id, step, chosen }: { id: string; step: Step; chosen: Signal<Step | null> }) {
  const isChosen = chosen.value !== null && chosen.value.key === step.key && chosen.value.at === step.at
  const content = (
    <>
      <time title={utcTime(step.at)}>{step.kind === 'wait' ? '' : preciseTime(step.at)}</time>
      <span class="lanes lines">
        <span class={`${step.kind} at-${step.station}${step.isBad ? ' bad' : ''}`}>
          <span>
            <b>{step.title}</b> {step.result}
          </span>
        </span>
      </span>
      <span class="measure">{step.measure}</span>
    </>
  )
  if (step.detail === null) return <div class={`step ${step.kind}-step`}>{content}</div>
  return (
    <button
      type="button"
      class={`step ${step.kind}-step`}
      aria-pressed={isChosen}
      data-step={id}
      onClick={() => void (chosen.value = isChosen ? null : step)}
    >
      {content}
    </button>
  )
}
