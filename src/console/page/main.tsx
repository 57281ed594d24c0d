import { effect } from '@preact/signals'
import { render } from 'preact'
import { App } from './app.tsx'
import { followKeys } from './frame/keys.ts'
import { hasPhone } from './frame/views.ts'
import { followHeard } from './phone/measured.ts'
import { followAddress, startWith } from './state/address.ts'
import { findCaller, me } from './state/caller.ts'
import { startClock } from './state/clock.ts'
import { followEvents } from './state/live.ts'
import { findSession, session } from './state/session.ts'
import { followSettings } from './state/settings.ts'

const root = document.querySelector('#app')
if (root === null) throw new Error('The page has no #app')

followSettings()
followAddress()
followKeys()
startClock()
await findSession()
render(<App />, root)
effect(() => {
  if (session.value === null) me.value = null
  else void findCaller()
})
effect(() => {
  // Only the events of the app's own messages reach an app's key, so its view begins with these.
  if (me.value !== null && session.value?.kind === 'key') startWith('messages', { app: me.value.name ?? '' })
  else if (me.value !== null) startWith(hasPhone.value ? 'phone' : 'messages', {})
})
followHeard()
followEvents()
