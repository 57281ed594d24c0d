import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import { OfflineBar } from './frame/connection-state.tsx'
import { Loaded } from './frame/loaded.tsx'
import { closePanel, panel } from './frame/panel.ts'
import { Rail } from './frame/rail.tsx'
import { TabBar, TopBar } from './frame/tab-bar.tsx'
import { hasPhone, isAll, isSimulated } from './frame/views.ts'
import { Dialog } from './parts/dialog.tsx'
import { LoadFailed } from './parts/load-failed.tsx'
import { isPhoneWide, isRailNarrow } from './parts/media.ts'
import { address, param } from './state/address.ts'
import { findCaller, hasAll, hasNoApp, me } from './state/caller.ts'
import { isFirstLoadOver } from './state/live.ts'
import { useLoading } from './state/loading.ts'
import { session } from './state/session.ts'
import { standing, toAnswer } from './state/standing.ts'
import type { View } from './state/view-names.ts'

/** The page: sign-in, or the frame with a view. */
export function App() {
  // What a view found is about one tenant.
  useEffect(() => {
    standing.value = null
    toAnswer.value = null
  }, [me.value?.tenantId])
  if (session.value === null || hasNoApp.value) return <Loaded load={FILES.signIn} props={{}} />
  if (me.value === null) return <Caller key={session.value.token} />
  return (
    <div class={`frame${isRailNarrow.value ? ' icons-only' : ''}${isPhoneWide.value ? ' on-phone' : ''}`}>
      <a class="button primary skip-link" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <TopBar />
      <Rail />
      <main class="stack scroller" id="main" tabIndex={-1} key={isAll.value ? '' : me.value.appId}>
        {param('tenant') === '' ? <CurrentView /> : <Loaded key={param('tenant')} load={FILES.panels} props={{}} />}
        <Loaded load={FILES.railCounts} props={{ isRead: READING.includes(address.value.view) }} around={null} />
        <OfflineBar />
      </main>
      <TabBar />
      {panel.value !== null && <Loaded load={FILES.panels} props={{}} around={inDialog} />}
    </div>
  )
}

/** Views that read what the rail counts. */
const READING: readonly (View | null)[] = ['all', 'overview', 'messages']

const REST_MS = 1500

/** Resolves when nothing was loaded for a while: the first load of a view stays small, and does not wait for what the rail counts. */
async function rest(before = -1): Promise<void> {
  const { length } = performance.getEntriesByType('resource')
  if (length === before) return
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
  return rest(length)
}

/** Until it is known who this is. */
function Caller() {
  const { error, again } = useLoading(findCaller, [])
  return (
    <main class="stack" id="main">
      <LoadFailed what="The console" error={error.value} again={again} />
    </main>
  )
}

const loadSetup = () => import('./setup/setup-view.tsx')

/** Views and panels, each loaded when it is first shown. */
export const FILES = {
  all: () => import('./all/all-view.tsx'),
  overview: () => import('./overview/overview-view.tsx'),
  messages: () => import('./messages/messages-view.tsx'),
  conversations: () => import('./conversations/conversations-view.tsx'),
  phone: () => import('./phone/phone-view.tsx'),
  webhooks: () => import('./webhooks/webhooks-view.tsx'),
  numbers: loadSetup,
  apps: loadSetup,
  tenants: loadSetup,
  signIn: () => import('./sign-in/sign-in-view.tsx'),
  signInByLogin: async (login: string | null) => (await import('./sign-in/sign-in-view.tsx')).signInByLogin(login),
  railCounts: async () => {
    await rest()
    const file = await import('./facts/rail-counts-view.tsx')
    isFirstLoadOver.value = true
    return file
  },
  panels: () => import('./panels/panels-view.tsx'),
} as const

/** Loads the file of the first view while the gateway says who this is. If that fails, it is tried again when the view is shown. */
export function loadFirstView(): void {
  if (session.value === null) return
  const mayHavePhone = isSimulated() && session.value.kind === 'operator'
  fileOf(address.value.view ?? startView(mayHavePhone), mayHavePhone)().catch(() => undefined)
}

/** The view of an address that names none. An app's key gets only the events of the app's own messages, so it begins with those. */
export function startView(withPhone: boolean): View {
  if (session.value?.kind === 'key') return 'messages'
  return hasAll.value ? 'all' : withPhone ? 'conversations' : 'overview'
}

const CurrentView = () => <Loaded load={fileOf(address.value.view ?? 'messages', hasPhone.value)} props={{}} />

/** Beside the simulator, a conversation appears on the contact's phone. */
const fileOf = (view: View, withPhone: boolean) => FILES[view === 'conversations' && withPhone ? 'phone' : view]

const inDialog = (failure: ComponentChild) => (
  <Dialog title="sgw" close={closePanel}>
    {failure}
  </Dialog>
)

/** The view owns the address, so the link cannot be a fragment. */
function skipToMain(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#main')?.focus()
}
