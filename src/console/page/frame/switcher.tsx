import { Mark } from '../parts/icon.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'
import { actAs, choices, me, readChoices } from '../state/caller.ts'
import { session, signOut } from '../state/session.ts'

/** Tenant and app that the console acts as; an operator can choose another one. */
export const Switcher = () => (
  <Menu class="switcher" opened={() => void readChoices()} items={switcherItems()}>
    <Mark />
    <span class="label">
      <span class="hidden">Tenant and app: </span>
      <b>{me.value?.tenantName ?? 'sgw'}</b>
      <span class="small dim">{me.value?.name ?? ''}</span>
    </span>
  </Menu>
)

export function switcherItems(): MenuItem[] {
  const apps = (session.value?.kind === 'operator' ? choices.value : []).map((choice) => ({
    label: choice.name,
    hint: choice.tenantName,
    isChosen: choice.appId === me.value?.appId,
    run: () => void actAs(choice),
  }))
  return [...apps, { label: 'Sign out', run: () => void signOut() }]
}
