import { effect } from '@preact/signals'
import { render } from 'preact'
import { App, FILES, loadFirstView, startView } from './app.tsx'
import { followKeys } from './frame/keys.ts'
import { hasPhone, isSimulated } from './frame/views.ts'
import { followAddress, startWith, takeLogin } from './state/address.ts'
import { me } from './state/caller.ts'
import { now } from './state/clock.ts'
import { followEvents } from './state/live.ts'
import { session, storedSession } from './state/session.ts'
import { privacy, theme } from './state/settings.ts'
import './style/tokens.css'
import './style/base.css'
import './style/controls.css'
import './style/segmented.css'
import './frame/frame.css'

const root = document.querySelector('#app')
if (root === null) throw new Error('The page has no #app')

followSettings()
followAddress()
followKeys()
startClock()
// The module does not await it: the files of the views import this one, so they wait until it has run.
void start(root)

async function start(shownIn: Element): Promise<void> {
  await findSession()
  loadFirstView()
  render(<App />, shownIn)
  effect(() => {
    if (session.value === null) me.value = null
  })
  effect(() => {
    const { name, operator } = me.value ?? {}
    if (name) startWith(startView(hasPhone.value), operator ? {} : { app: name })
  })
  followEvents()
}

/** Finds the session: the login in the address, the stored one, or, beside the simulator, a session that needs no login. */
async function findSession(): Promise<void> {
  const login = takeLogin()
  if (login === null) session.value = storedSession()
  if (login === null && (session.value !== null || !isSimulated())) return
  // If the file does not load, the sign-in says so.
  await FILES.signInByLogin(login).catch(() => undefined)
}

/** Keeps the page in sync with theme and privacy. */
function followSettings(): void {
  const { style, classList } = document.documentElement
  effect(() => void (style.colorScheme = theme.value === 'system' ? '' : theme.value))
  effect(() => void classList.toggle('private', privacy.value === 'on'))
}

/** Starts the clock, which does not tick while the page is hidden. */
function startClock(): void {
  const tick = (): void => {
    if (!document.hidden) now.value = Date.now()
    setTimeout(tick, 1000 - (Date.now() % 1000))
  }
  tick()
  document.addEventListener('visibilitychange', () => void (now.value = Date.now()))
}
