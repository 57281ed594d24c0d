import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PhoneNumber, spokenNumber } from '../parts/phone-number.tsx'
import { open } from '../state/address.ts'
import { me } from '../state/caller.ts'
import { now, shortTime } from '../state/clock.ts'
import { usePairChoices } from '../thread/pair-choices.ts'
import { Thread } from '../thread/thread.tsx'
import type { TracedConversation } from './traced-conversation.ts'
import { newContact } from './pair.ts'

/** The contact's phone: what arrived, and a field to text as the contact. */
export const Handset = ({ conversation }: { conversation: TracedConversation }) => (
  <div class="stack phone-right">
    <ContactBar conversation={conversation} />
    <section class="stack handset" aria-label={`Phone of ${spokenNumber(conversation.contact)}`}>
      <div class="line handset-top not-on-phone" aria-hidden="true">
        {shortTime(now.value)}
        <span class="dim small">simulated</span>
      </div>
      <div class="stack handset-name not-on-phone">
        <b>{me.value?.tenantName ?? ''}</b>
        <span class="dim small">
          <PhoneNumber value={conversation.number} />
        </span>
      </div>
      <Thread
        messages={conversation.isLoaded.value ? conversation.messages.value : null}
        seenBy="contact"
        attemptsOf={(id) => conversation.webhooks.value.get(id) ?? []}
        loadOlder={conversation.hasOlder.value ? () => void conversation.readOlder() : null}
      >
        No texts yet.
        <br />
        This is how a contact will see you.
      </Thread>
      <Reply conversation={conversation} />
    </section>
  </div>
)

function ContactBar({ conversation }: { conversation: TracedConversation }) {
  const { number, contact } = conversation
  const { contacts, read } = usePairChoices(number)
  const show = (shown: string): void => open('conversations', { number, contact: shown })
  return (
    <div class="line contact-bar">
      <Menu
        class="item contact-choice"
        opened={() => void read()}
        items={[...new Set([contact, ...contacts])].map((choice) => ({
          label: spokenNumber(choice),
          isChosen: choice === contact,
          run: () => show(choice),
        }))}
      >
        <span class="hidden">Contact </span>
        <PhoneNumber value={contact} />
        <Icon name="down" />
      </Menu>
      <Button
        text="New contact"
        class="button quiet"
        run={() => read().then((known) => show(newContact([contact, ...known.contacts])))}
      />
    </div>
  )
}

function Reply({ conversation }: { conversation: TracedConversation }) {
  const send = (event: SubmitEvent & { currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const text = new FormData(event.currentTarget).get('text')
    event.currentTarget.reset()
    if (typeof text === 'string' && text !== '') void conversation.reply(text)
  }
  return (
    <form class="line boxed reply" onSubmit={send}>
      <input
        dir="auto"
        name="text"
        aria-label="Text as the contact"
        placeholder="Text as this contact"
        autoComplete="off"
      />
      <button type="submit" class="icon-button" aria-label="Send as the contact">
        <Icon name="M5 12l7-7 7 7M12 19V5" />
      </button>
    </form>
  )
}
