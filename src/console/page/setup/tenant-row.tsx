import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { me } from '../state/caller.ts'
import type { TenantItem } from '../state/operator.ts'
import { ChangeStatus } from './change-status.tsx'
import { CreateApp } from './create-app.tsx'
import { Entry, Time } from './extension.tsx'

const STATES = {
  active: { word: 'Active', icon: 'sent', kind: 'dim' },
  suspended: { word: 'Suspended', icon: 'waiting', kind: 'warn' },
  inactive: { word: 'Inactive', icon: 'cancelled', kind: 'dim' },
} as const

/** One tenant: its state, what it has, and what a person can do with it. */
export function TenantRow({ tenant }: { tenant: TenantItem }) {
  const { tenantId, name, status, apps } = tenant
  const { word, icon, kind } = STATES[status]
  return (
    <li class="thing" tabIndex={-1} aria-label={name}>
      <div class="line thing-head">
        <span class={kind}>
          <Icon name={icon} />
        </span>
        <h2>{name}</h2>
        {tenantId === me.value?.tenantId && <span class="small dim">You are viewing this tenant</span>}
        <span class={`state ${kind}`}>{word}</span>
      </div>
      <div class="actions thing-buttons">
        {status === 'active' && (
          <CreateApp tenantId={tenantId} tenantName={name} class={apps === 0 ? 'button primary' : 'button'} />
        )}
        <ChangeStatus {...tenant} />
      </div>
      <dl class="thing-facts">
        <Entry name="Active apps">{apps}</Entry>
        <Entry name="Extensions">{tenant.extensions}</Entry>
        <Entry name="Created">
          <Time at={tenant.createdAt} />
        </Entry>
        <Entry name="Id" isWide>
          <span class="mono">{tenantId}</span>
          <CopyButton text={tenantId} label="Copy the id" />
        </Entry>
      </dl>
    </li>
  )
}
