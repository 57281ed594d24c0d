import { Icon, Mark } from '../parts/icon.tsx'
import { address, addressOf } from '../state/address.ts'
import { privacy } from '../state/settings.ts'
import { focusSearch } from './keys.ts'
import { panel } from './panel.ts'
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
export const TabBar = () => (
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
    <button type="button" aria-haspopup="dialog" onClick={() => void (panel.value = 'more')}>
      <Icon name="more" />
      More
    </button>
  </nav>
)
