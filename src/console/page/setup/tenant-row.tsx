import type { Sgw } from '../../../client/client.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { me } from '../state/caller.ts'
import type { TenantItem } from './calls.ts'
import { ChangeStatus } from './change-status.tsx'
import { Entry, Time } from './extension.tsx'

interface TenantRowProps {
  tenant: TenantItem
  sgw: Sgw
  changed: () => void
  createApp: () => void
}

const STATES = {
  active: { word: 'Active', icon: 'sent', kind: 'dim' },
  suspended: { word: 'Suspended', icon: 'waiting', kind: 'warn' },
  inactive: { word: 'Inactive', icon: 'cancelled', kind: 'dim' },
} as const

/** One tenant: its state, what it has, and what a person can do with it. */
export function TenantRow({ tenant, sgw, changed, createApp }: TenantRowProps) {
  const { word, icon, kind } = STATES[tenant.status]
  return (
    <li class="thing" tabIndex={-1} aria-label={tenant.name}>
      <div class="line thing-head">
        <span class={kind}>
          <Icon name={icon} />
        </span>
        <h2>{tenant.name}</h2>
        <span class={`state ${kind}`}>{word}</span>
        {tenant.tenantId === me.value?.tenantId && <span class="dim">You are viewing this tenant</span>}
      </div>
      <div class="actions thing-buttons">
        {tenant.status === 'active' && (
          <button type="button" class={tenant.apps === 0 ? 'button primary' : 'button'} onClick={createApp}>
            Create app
          </button>
        )}
        <ChangeStatus tenant={tenant} sgw={sgw} changed={changed} />
      </div>
      <dl class="thing-facts">
        <Entry name="Active apps">{tenant.apps}</Entry>
        <Entry name="Extensions">{tenant.extensions}</Entry>
        <Entry name="Created">
          <Time at={tenant.createdAt} />
        </Entry>
        <Entry name="Id" isWide>
          <span class="mono">{tenant.tenantId}</span>
          <CopyButton text={tenant.tenantId} label="Copy the id" />
        </Entry>
      </dl>
    </li>
  )
}
