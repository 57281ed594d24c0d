import { Icon, Mark } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon-paths.ts'
import { me } from '../state/caller.ts'
import { clockTime, now, zoneName } from '../state/clock.ts'
import { privacy, theme, togglePrivacy, toggleZone } from '../state/settings.ts'
import { ConnectionState } from './connection-state.tsx'
import { focusSearch } from './keys.ts'
import { panel } from './panel.ts'
import { type ShownView, allText, hrefOf, isAll, isCurrent, viewsShown } from './views.ts'

/** The navigation at the left edge. Below 1100 px, it shows only icons; below 700 px, the tab bar replaces it. */
export const Rail = () => (
  <nav class="stack rail" aria-label="Views">
    <SwitcherButton />
    <button type="button" class="item rail-item" onClick={focusSearch}>
      <Icon name="search" />
      <span class="label">Search</span>
      <kbd>/</kbd>
    </button>
    {viewsShown.value.map((item) => (
      <RailItem key={item.view} {...item} />
    ))}
    <span class="rail-space" />
    <ConnectionState />
    <button
      type="button"
      class="small dim rail-clock"
      title="Switch between local time and UTC (u)"
      onClick={toggleZone}
    >
      <span class="label">
        {clockTime(now.value)} <span class="dim">{zoneName(now.value)}</span>
      </span>
    </button>
    <Choices />
  </nav>
)

/** Tenant and app that the console acts as. An operator can click to choose another one. */
const SwitcherButton = () => (
  <button type="button" class="item switcher" aria-haspopup="dialog" onClick={() => void (panel.value = 'switcher')}>
    <Mark />
    <span class="label stack clip">
      <span class="hidden">Tenant and app: </span>
      <strong class="clip">{isAll.value ? 'All tenants' : me.value?.tenantName}</strong>
      <span class="clip small dim">{isAll.value ? allText.value : me.value?.name}</span>
    </span>
  </button>
)

const RailItem = ({ view, name, icon, trouble, sections }: ShownView) => (
  <a
    class="item rail-item"
    href={hrefOf({ view, trouble })}
    title={name}
    aria-current={isCurrent({ view, sections }) ? 'page' : undefined}
  >
    <Icon name={icon} />
    <span class="label">{name}</span>
    <TroubleCount class="small rail-count" trouble={trouble} />
  </a>
)

export const TroubleCount = ({ class: className, trouble }: { class: string; trouble: ShownView['trouble'] }) =>
  trouble && (
    <span class={`${className} ${trouble.kind}`} title={trouble.word}>
      {trouble.count}
      <span class="hidden"> {trouble.word}</span>
    </span>
  )

interface Choice {
  icon: IconName
  label: string
  /** For the rail's tooltip. */
  key?: string
  isOn?: boolean
  run(): void
}

export const choicesShown = (): readonly Choice[] => [
  { icon: 'theme', label: `Theme: ${theme.value}`, run: nextTheme },
  {
    icon: 'privacy',
    label: 'Hide texts and numbers',
    key: 'p',
    isOn: privacy.value === 'on',
    run: togglePrivacy,
  },
  { icon: 'keys', label: 'Keys', key: '?', run: () => void (panel.value = 'keys') },
]

const Choices = () => (
  <div class="rail-choices">
    {choicesShown().map(({ icon, label, key, isOn, run }) => (
      <button
        key={icon}
        type="button"
        class="icon-button"
        aria-label={label}
        title={key === undefined ? label : `${label} (${key})`}
        aria-pressed={isOn}
        onClick={run}
      >
        <Icon name={icon} />
      </button>
    ))}
  </div>
)

/** The system's theme first, then the other one, then the first again. */
function nextTheme(): void {
  const isSystemDark = matchMedia('(prefers-color-scheme: dark)').matches
  const order = isSystemDark ? (['system', 'light', 'dark'] as const) : (['system', 'dark', 'light'] as const)
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? 'system'
}
