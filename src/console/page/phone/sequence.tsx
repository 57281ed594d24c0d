import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Message } from '../../../client/client.ts'
import { preciseTime } from '../parts/precise-time.ts'
import { duration, utcTime } from '../state/clock.ts'
import { messageIdOf, quotedText } from '../messages/row.ts'
import type { TracedConversation } from './traced-conversation.ts'
import { STATIONS, type Step, stepsOf } from './steps.ts'
import './sequence.css'

/** Every step of the newest texts between app, gateway, RingCentral and phone. */
export function Sequence({ conversation }: { conversation: TracedConversation }) {
  const box = useRef<HTMLElement>(null)
  const groups = conversation.traced.value.map((message) => ({ message, steps: stepsOf(message, conversation) }))
  const length = groups.reduce((sum, { steps }) => sum + steps.length, 0)
  useLayoutEffect(() => {
    if (box.current !== null) showEnd(box.current)
  }, [length])
  useEffect(() => keepEnd(box.current), [])
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
        <Group key={message.messageId} {...{ message, steps, conversation }} />
      ))}
    </section>
  )
}

interface GroupProps {
  message: Message
  steps: readonly Step[]
  conversation: TracedConversation
}

const Group = ({ message, steps, conversation }: GroupProps) => (
  <>
    <div class="step group-head">
      <span />
      <span class="lanes">
        <span class="group-title">
          <span class="mask clip" dir="auto">
            {quotedText(message)}
          </span>
          <span class="dim clip">from {originOf(message, conversation)}</span>
        </span>
      </span>
      <span />
    </div>
    {steps.map((step) => (
      <StepLine key={step.key} id={`${message.messageId} ${step.key}`} step={step} chosen={conversation.chosen} />
    ))}
  </>
)

/** Scrolls to the last step. The room below it is such that no step is cut in half below the heads. */
function showEnd(box: HTMLElement): void {
  const scroller = box.parentElement
  // If the steps scroll with the entire page, a new one does not pull the page down.
  if (scroller === null || getComputedStyle(scroller).overflowY === 'visible') return
  box.style.paddingBottom = ''
  scroller.scrollTo({ top: scroller.scrollHeight })
  const edge = scroller.getBoundingClientRect().top + Number.parseFloat(getComputedStyle(scroller).scrollPaddingTop)
  const tops = [...box.querySelectorAll('.step:not(.group-head)')].map((step) => step.getBoundingClientRect().top)
  const first = tops.find((top) => top >= edge - 1)
  if (scroller.scrollTop === 0 || first === undefined) return
  box.style.paddingBottom = `${first - edge}px`
  scroller.scrollTo({ top: scroller.scrollHeight })
}

/** The field above shrinks after a send. A view that was at the end stays there, with no step cut in half below the heads. */
function keepEnd(box: HTMLElement | null): (() => void) | undefined {
  const scroller = box?.parentElement
  if (!box || !scroller) return undefined
  const observer = new ResizeObserver(() => {
    if (scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1) showEnd(box)
  })
  observer.observe(scroller)
  return () => observer.disconnect()
}

/** Steps at the app are known only for what this page has sent and received since it was loaded. */
function originOf({ direction, messageId }: Message, { sends, heard }: TracedConversation): string {
  if (direction === 'inbound') return 'the contact'
  if (sends.value.has(messageId)) return 'your app'
  const isHeard = heard.value.some(({ event }) => messageIdOf(event) === messageId)
  return `your app, ${isHeard ? 'call' : 'call and events'} not measured here`
}

interface StepLineProps extends Pick<TracedConversation, 'chosen'> {
  id: string
  step: Step
}

function StepLine({ id, step, chosen }: StepLineProps) {
  const { detail, took = null } = step
  const isChosen = chosen.value?.id === id
  const content = (
    <>
      <time title={utcTime(step.at)}>{preciseTime(step.at)}</time>
      <span class="lanes lines">
        <span class={`line ${step.kind} at-${step.station}${step.isBad ? ' bad' : ''}`}>
          <span>
            <b>{step.title}</b> {step.result}
          </span>
        </span>
      </span>
      <span class="measure">{took === null ? '' : duration(took)}</span>
    </>
  )
  if (detail === undefined) return <div class={`step ${step.kind}-step`}>{content}</div>
  return (
    <button
      type="button"
      class={`step ${step.kind}-step`}
      aria-pressed={isChosen}
      data-step={id}
      onClick={() => void (chosen.value = isChosen ? null : { id, detail })}
    >
      {content}
    </button>
  )
}
