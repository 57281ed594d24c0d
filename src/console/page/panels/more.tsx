import { ConnectionState } from '../frame/connection-state.tsx'
import { panel, closePanel } from '../frame/panel.ts'
import { choicesShown } from '../frame/rail.tsx'
import { viewsShown } from '../frame/views.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { addressOf } from '../state/address.ts'
import { me } from '../state/caller.ts'
import { clockTime, now, zoneName } from '../state/clock.ts'
import { leave } from './switcher.tsx'

/** On a phone, what the rail has besides the views. */
export const More = () => (
  <Dialog title="More" close={closePanel}>
    <ul class="panel-list">
      <li>
        <button type="button" class="item panel-item" onClick={() => void (panel.value = 'switcher')}>
          <Icon name="tenant" />
          {me.value?.name ?? 'Tenant and app'}
          <span class="dim small">{me.value?.tenantName ?? ''}</span>
        </button>
      </li>
      {viewsShown.value
        .filter(({ isBehindMore }) => isBehindMore)
        .map(({ view, name, icon, trouble }) => (
          <li key={view}>
            <a class="item panel-item" href={addressOf(view)} onClick={closePanel}>
              <Icon name={icon} />
              {name}
              {trouble !== null && (
                <span class={`small ${trouble.kind}`}>
                  {trouble.count} {trouble.word}
                </span>
              )}
            </a>
          </li>
        ))}
      {choicesShown().map(({ icon, label, isOn, run }) => (
        <li key={icon}>
          <button
            type="button"
            class="item panel-item"
            {...(isOn === undefined ? {} : { 'aria-pressed': isOn })}
            onClick={run}
          >
            <Icon name={icon} />
            {label}
          </button>
        </li>
      ))}
      <li>
        <button type="button" class="item panel-item" onClick={leave}>
          <Icon name="signOut" />
          Sign out
        </button>
      </li>
    </ul>
    <div class="line more-foot">
      <ConnectionState />
      <span class="dim small">
        {clockTime(now.value)} {zoneName(now.value)}
      </span>
    </div>
    <button type="button" class="button" onClick={closePanel}>
      Close
    </button>
  </Dialog>
)
