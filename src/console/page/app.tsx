import { OfflineBar } from './frame/connection-state.tsx'
import { NoApp } from './frame/no-app.tsx'
import { KeysHelp } from './frame/keys-help.tsx'
import { Rail } from './frame/rail.tsx'
import { SignIn } from './frame/sign-in.tsx'
import { TabBar, TopBar } from './frame/tab-bar.tsx'
import { hasPhone } from './frame/views.ts'
import { MessagesView } from './messages/messages-view.tsx'
import { PhoneView } from './phone/phone-view.tsx'
import { address } from './state/address.ts'
import { hasNoApp, me } from './state/caller.ts'
import { session } from './state/session.ts'

/** The whole page: sign-in, or the frame with a view. */
export function App() {
  if (session.value === null) return <SignIn />
  if (hasNoApp.value) return <NoApp />
  if (me.value === null) return null
  return (
    <div class="frame">
      <a class="skip-link" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <TopBar />
      <Rail />
      <main id="main" tabIndex={-1} key={me.value.appId}>
        <OfflineBar />
        <CurrentView />
      </main>
      <TabBar />
      <KeysHelp />
    </div>
  )
}

const CurrentView = () => (address.value.view === 'phone' && hasPhone.value ? <PhoneView /> : <MessagesView />)

/** The address is the view's, so the link cannot be a fragment. */
function skipToMain(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#main')?.focus()
}
