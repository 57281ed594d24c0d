import { KeysHelp } from './frame/keys-help.tsx'
import { Rail } from './frame/rail.tsx'
import { SignIn } from './frame/sign-in.tsx'
import { TabBar, TopBar } from './frame/tab-bar.tsx'
import { hasPhone } from './frame/views.ts'
import { MessagesView } from './messages/messages-view.tsx'
import { PhoneView } from './phone/phone-view.tsx'
import { address } from './state/address.ts'
import { client, me } from './state/caller.ts'
import { session } from './state/session.ts'

/** The whole page: sign-in, or the frame with a view. */
export function App() {
  if (session.value === null) return <SignIn />
  if (me.value === null) return null
  return (
    <div class="frame">
      <a class="skip-link" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <TopBar />
      <Rail />
      <main id="main" tabIndex={-1} key={me.value.appId}>
        {client.value === null ? <NoApp /> : <CurrentView />}
      </main>
      <TabBar />
      <KeysHelp />
    </div>
  )
}

/** The start page is the phone where there is one. */
function CurrentView() {
  const view = address.value.view ?? (hasPhone.value ? 'phone' : 'messages')
  return view === 'phone' && hasPhone.value ? <PhoneView /> : <MessagesView />
}

const NoApp = () => (
  <section class="empty">
    <h1>No tenant has an app yet.</h1>
    <p>An app is what sends and receives. Create one:</p>
    <pre>sgw app create --tenant TENANT --name "My app"</pre>
  </section>
)

/** The address is the view's, so the link cannot be a fragment. */
function skipToMain(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#main')?.focus()
}
