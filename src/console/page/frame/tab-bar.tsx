import { useSignal } from '@preact/signals'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { address, addressOf } from '../state/address.ts'
import { readChoices } from '../state/caller.ts'
import { clockTime, now, zoneName } from '../state/clock.ts'
import { privacy } from '../state/settings.ts'
import { ConnectionState } from './connection-state.tsx'
import { focusSearch } from './keys.ts'
import { choicesShown } from './rail.tsx'
import { switcherItems } from './switcher.tsx'
import { viewsShown } from './views.ts'

/** The top of the page on a phone: mark, view and search. */
export const TopBar = () => (
  <header class="top-bar">
    <Mark />
    <b>{viewsShown.value.find(({ view }) => view === address.value.view)?.name ?? 'sgw'}</b>
    <span class="rail-space" />
    {privacy.value === 'on' && (
      <button
        type="button"
        class="icon-button"
        aria-label="Show texts and numbers"
        aria-pressed="true"
        onClick={() => void (privacy.value = 'off')}
      >
        <Icon name="privacy" />
      </button>
    )}
    <button type="button" class="icon-button" aria-label="Search" onClick={focusSearch}>
      <Icon name="search" />
    </button>
  </header>
)

/** The views at the bottom of a phone, and behind More what the rail has besides. */
export function TabBar() {
  const isMoreOpen = useSignal(false)
  const openMore = (): void => {
    isMoreOpen.value = true
    void readChoices().catch(() => undefined)
  }
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
      <button type="button" aria-haspopup="dialog" onClick={openMore}>
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
            <Icon name={isChosen === undefined ? 'signOut' : 'tenant'} />
            {label}
            {hint !== undefined && <span class="dim small">{hint}</span>}
          </button>
        </li>
      ))}
      {choicesShown().map(({ icon, label, isOn, run }) => (
        <li key={icon}>
          <button
            type="button"
            class="more-item"
            {...(isOn === undefined ? {} : { 'aria-pressed': isOn })}
            onClick={run}
          >
            <Icon name={icon} />
            {label}
          </button>
        </li>
      ))}
    </ul>
    <div class="more-foot">
      <ConnectionState />
      <span class="dim small">
        {clockTime(now.value)} {zoneName(now.value)}
      </span>
    </div>
    <button type="button" class="button" onClick={close}>
      Close
    </button>
  </Dialog>
)
