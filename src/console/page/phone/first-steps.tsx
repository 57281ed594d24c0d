import type { ComponentChild } from 'preact'
import { CopyButton } from '../parts/copy.tsx'
import { asCurl } from '../messages/snippets.ts'
import { GATEWAY } from '../state/address.ts'
import { FIRST_TEXT } from './composer.tsx'
import type { TracedConversation } from './traced-conversation.ts'

/** Before the first text: the same from a program. */
export function FirstSteps({ conversation }: { conversation: TracedConversation }) {
  const { number: from, contact: to } = conversation
  const shown = asCurl({ direction: 'outbound', messageId: '', from, to, body: FIRST_TEXT }, GATEWAY)
  return (
    <section class="exchange" aria-label="From your own code">
      <header class="line">
        <b>The same from your own code</b>
        <CopyButton text={shown} label="Copy this" />
      </header>
      <pre>{shown}</pre>
      <p class="small dim exchange-note">
        <code class="mono">SGW_KEY</code> is the API key that the gateway prints when it starts.
      </p>
    </section>
  )
}

/** A conversation with this many texts is no longer a first try. */
const BEGINNERS_TEXTS = 10

/** What to try next: everything before the first text, then the rest. */
export function ThenTry({ conversation }: { conversation: TracedConversation }) {
  const messages = conversation.messages.value
  if (!conversation.isLoaded.value || messages.length >= BEGINNERS_TEXTS) return null
  const attempts = [...conversation.timelines.value.values()].flatMap(({ entries }) =>
    entries.filter((entry) => entry.type === 'attempt'),
  )
  const steps: readonly (readonly [isTried: boolean, title: string, rest: ComponentChild])[] = [
    [messages.some(({ direction }) => direction === 'inbound'), 'Answer on the phone.', ANSWER],
    [
      attempts.some(({ httpStatus }) => httpStatus === 429),
      'Choose “429, try later” and send again.',
      'The gateway waits and tries again.',
    ],
    [attempts.some(({ outcome }) => outcome === 'unknown'), 'Choose “502 after accepting” and send again.', LOOKUP],
    [false, 'Send real texts.', REAL_TEXTS],
  ]
  return (
    <section class="then-try" aria-label="Try next">
      <h2>Try next</h2>
      <ol>
        {steps.map(
          ([isTried, title, rest]) =>
            !isTried && (
              <li>
                <b>{title}</b> {rest}
              </li>
            ),
        )}
      </ol>
    </section>
  )
}

const ANSWER = (
  <>
    The reply reaches your webhook, and <code class="mono">sgw listen</code> prints it.
  </>
)
const LOOKUP = 'The gateway checks whether the text arrived before it sends it again, so nobody gets it twice.'
const REAL_TEXTS = (
  <>
    Set <code class="mono">RC_CLIENT_ID</code> and <code class="mono">RC_CLIENT_SECRET</code>, and start again.
  </>
)
