import { useSignal } from '@preact/signals'
import { CopyButton } from '../parts/copy.tsx'
import { asCurl, asTypeScript } from '../messages/snippets.ts'
import { FIRST_TEXT } from './composer.tsx'
import type { Conversation } from './conversation.ts'
import { SideButton } from './step-details.tsx'

/** Before the first text: the same from a program, and what to try then. */
export function FirstSteps({ conversation }: { conversation: Conversation }) {
  const language = useSignal<'curl' | 'TypeScript'>('curl')
  const text = {
    direction: 'outbound',
    messageId: '',
    from: conversation.number,
    to: conversation.contact,
    body: FIRST_TEXT,
  } as const
  const shown = language.value === 'curl' ? asCurl(text, location.origin) : asTypeScript(text, location.origin)
  return (
    <>
      <section class="exchange" aria-label="From your own code">
        <header>
          <b>The same from your own code</b>
          <SideButton name="curl" isChosen={language.value === 'curl'} choose={() => void (language.value = 'curl')} />
          <SideButton
            name="TypeScript"
            isChosen={language.value === 'TypeScript'}
            choose={() => void (language.value = 'TypeScript')}
          />
          <CopyButton text={shown} label="Copy this" />
        </header>
        <pre>{shown}</pre>
        <p class="small dim exchange-note">
          <code>SGW_KEY</code> is the API key that the gateway prints when it starts.
        </p>
      </section>
      <section class="then-try">
        <h2>Then try</h2>
        <ol>
          <li>
            <b>Answer on the phone.</b> The reply reaches your webhook, and <code>sgw listen</code> prints it.
          </li>
          <li>
            <b>Choose “429, try later” and send again.</b> The gateway waits and repeats by itself.
          </li>
          <li>
            <b>Choose “502 after accepting” and send again.</b> The gateway checks whether the text arrived before it
            sends it again, so nobody gets it twice.
          </li>
          <li>
            <b>Send real texts.</b> Set <code>RC_CLIENT_ID</code> and <code>RC_CLIENT_SECRET</code>, and start again.
          </li>
        </ol>
      </section>
    </>
  )
}
