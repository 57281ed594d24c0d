import { useSignal } from '@preact/signals'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { address, addressOf } from '../state/address.ts'
import { clockTime, now, zoneName } from '../state/clock.ts'
import { ConnectionState } from './connection-state.tsx'
import { focusSearch } from './keys.ts'
import { Choices } from './rail.tsx'
import { switcherItems } from './switcher.tsx'
import { viewsShown } from './views.ts'

/** The top of the page on a phone: mark, view and search. */
export const TopBar = () => (
  <header class="top-bar">
    <Mark />
    <b>{viewsShown.value.find(({ view }) => view === address.value.view)?.name ?? 'sgw'}</b>
    <button type="button" class="icon-button" aria-label="Search" onClick={focusSearch}>
      <Icon name="search" />
    </button>
  </header>
)

/** The views at the bottom of a phone, and behind More what the rail has besides. */
export function TabBar() {
  const isMoreOpen = useSignal(false)
  return (
    <nav class="tab-bar" aria-label="Views">
      {viewsShown.value.map(({ view, name, icon, trouble }) => (
        <a key={view} href={addressOf(view)} {...(address.value.view === view ? { 'aria-current': 'page' } : {})}>
          <Icon name={icon} />
          {name}
          {trouble !== null && (
            <span class={`tab-count ${trouble.kind}`}>
              {trouble.count}
              <span class="hidden"> {trouble.word}</span>
            </span>
          )}
        </a>
      ))}
      <button type="button" aria-haspopup="dialog" onClick={() => void (isMoreOpen.value = true)}>
        <Icon name="more" />
        More
      </button>
      {isMoreOpen.value && <More close={() => void (isMoreOpen.value = false)} />}
    </nav>
  )
}

const More = ({ close }: { close: () => void }) => (
  <Dialog title="More" close={close}>
    <ul class="more-list">
      {switcherItems().map(({ label, hint, isChosen, run }) => (
        <li key={label}>
          <button type="button" class="more-item" aria-pressed={isChosen} onClick={() => (run(), close())}>
            {label}
            {hint !== undefined && <span class="dim small">{hint}</span>}
          </button>
        </li>
      ))}
    </ul>
    <ConnectionState />
    <p class="dim small">
      {clockTime(now.value)} {zoneName(now.value)}
    </p>
    <Choices />
    <div class="dialog-actions">
      <button type="button" class="button" onClick={close}>
        Close
      </button>
    </div>
  </Dialog>
)
