import type { ComponentChildren } from 'preact'
import { ConnectionState } from '../frame/connection-state.tsx'
import { panel, closePanel } from '../frame/panel.ts'
import { choicesShown } from '../frame/rail.tsx'
import { type ShownView, allText, hrefOf, isAll, viewsShown } from '../frame/views.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import type { IconName } from '../parts/icon-paths.ts'
import { Icon } from '../parts/icon.tsx'
import { me } from '../state/caller.ts'
import { clockTime, now, zoneName } from '../state/clock.ts'
import { leave } from './switcher.tsx'

/** Paths of Lucide, as those of `parts/icon-paths.ts`. */
const TENANT = 'M5 22V3h14v19zM10 22v-4h4v4M9 7.5h.01M15 7.5h.01M9 12.5h.01M15 12.5h.01'
const SIGN_OUT = 'M16 17l5-5-5-5M21 12H9M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4'

/** On a phone, everything in the rail except the views. */
export const More = () => (
  <Dialog title="More" close={closePanel}>
    <ul class="panel-list">
      <Item icon={TENANT} run={() => void (panel.value = 'switcher')}>
        {isAll.value ? 'All tenants' : (me.value?.name ?? 'Tenant and app')}
        <span class="dim small">{isAll.value ? allText.value : (me.value?.tenantName ?? '')}</span>
      </Item>
      {viewsShown.value
        .filter(({ isBehindMore }) => isBehindMore)
        .map((item) => (
          <ViewItem key={item.view} {...item} />
        ))}
      {choicesShown().map(({ icon, label, isOn, run }) => (
        <Item key={icon} icon={icon} isOn={isOn} run={run}>
          {label}
        </Item>
      ))}
      <Item icon={SIGN_OUT} run={leave}>
        Sign out
      </Item>
    </ul>
    <div class="line more-foot">
      <ConnectionState />
      <span class="dim small">
        {clockTime(now.value)} {zoneName(now.value)}
      </span>
    </div>
    <div class="actions">
      <Button text="Close" run={closePanel} />
    </div>
  </Dialog>
)

const ViewItem = ({ view, name, icon, trouble }: ShownView) => (
  <li>
    <a class="item panel-item" href={hrefOf({ view, trouble })} onClick={closePanel}>
      <Icon name={icon} />
      {name}
      {trouble && (
        <span class={`small ${trouble.kind}`}>
          {trouble.count} {trouble.word}
        </span>
      )}
    </a>
  </li>
)

interface ItemProps {
  icon: IconName
  /** For a choice that is on or off. */
  isOn?: boolean | undefined
  run: () => void
  children: ComponentChildren
}

const Item = ({ icon, isOn, run, children }: ItemProps) => (
  <li>
    <button type="button" class="item panel-item" aria-pressed={isOn} onClick={run}>
      <Icon name={icon} />
      {children}
    </button>
  </li>
)
