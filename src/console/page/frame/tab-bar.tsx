import { Icon, Mark } from '../parts/icon.tsx'
import { addressOf } from '../state/address.ts'
import { hasAll } from '../state/caller.ts'
import { focusSearch } from './keys.ts'
import { panel } from './panel.ts'
import { TroubleCount } from './rail.tsx'
import { hrefOf, isAll, isCurrent, viewsShown } from './views.ts'

/** The top of the page on a phone: logo, view and search. */
export const TopBar = () => (
  <header class="line top-bar">
    {hasAll.value && !isAll.value ? (
      <a class="icon-button" href={addressOf('all')} aria-label="All tenants">
        <Icon name="left" />
      </a>
    ) : (
      <Mark />
    )}
    <strong class="clip">{viewsShown.value.find(isCurrent)?.name ?? 'sgw'}</strong>
    <span class="rail-space" />
    <button type="button" class="icon-button" aria-label="Search" onClick={focusSearch}>
      <Icon name="search" />
    </button>
  </header>
)

/** The views at the bottom of a phone; More has everything else that is in the rail. */
export const TabBar = () => (
  <nav class="tab-bar" aria-label="Views">
    {viewsShown.value
      .filter(({ isBehindMore }) => !isBehindMore)
      .map((item) => (
        <a key={item.view} class="stack" href={hrefOf(item)} aria-current={isCurrent(item) ? 'page' : undefined}>
          <Icon name={item.icon} />
          {item.name}
          <TroubleCount class="tab-count" trouble={item.trouble} />
        </a>
      ))}
    <button
      type="button"
      class="stack"
      aria-haspopup="dialog"
      aria-current={viewsShown.value.find(isCurrent)?.isBehindMore ? 'page' : undefined}
      onClick={() => void (panel.value = 'more')}
    >
      <Icon name="M11 12a1 1 0 1 0 2 0a1 1 0 1 0 -2 0M18 12a1 1 0 1 0 2 0a1 1 0 1 0 -2 0M4 12a1 1 0 1 0 2 0a1 1 0 1 0 -2 0" />
      More
      <TroubleCount
        class="tab-count"
        trouble={viewsShown.value.find(({ isBehindMore, trouble }) => isBehindMore && trouble)?.trouble}
      />
    </button>
  </nav>
)
