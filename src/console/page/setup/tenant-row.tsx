import { useSignal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { me } from '../state/caller.ts'
import { type TenantItem, setTenantStatus } from './calls.ts'
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

/** One tenant: how it is, what it has, and what can be done. */
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
        {tenant.tenantId === me.value?.tenantId && <span class="dim">You look at this tenant</span>}
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

function ChangeStatus({ tenant, sgw, changed }: Omit<TenantRowProps, 'createApp'>) {
  const { tenantId, name, apps, extensions } = tenant
  const isAsked = useSignal(false)
  const isActive = tenant.status === 'active'
  const change = async (): Promise<void> => {
    await setTenantStatus(sgw, { tenantId, status: isActive ? 'suspended' : 'active' })
    changed()
  }
  return (
    <>
      <button type="button" class={isActive ? 'button quiet' : 'button'} onClick={() => void (isAsked.value = true)}>
        {isActive ? 'Suspend…' : 'Activate…'}
      </button>
      {isAsked.value && (
        <Confirm
          title={`${isActive ? 'Suspend' : 'Activate'} ${name}`}
          button={isActive ? 'Suspend' : 'Activate'}
          isDanger={isActive}
          run={change}
          close={() => void (isAsked.value = false)}
        >
          {isActive
            ? `${stoppedText(apps)} refused at once, and open sockets close. Messages and webhooks wait until the tenant is active again. Texts to ${extensionsText(extensions)} are still received.`
            : 'Its keys work again at once, and what waits is sent.'}
        </Confirm>
      )}
    </>
  )
}

const stoppedText = (apps: number): string =>
  apps === 1 ? 'The key of its app is' : `The keys of its ${apps} apps are`

const extensionsText = (extensions: number): string =>
  extensions === 1 ? 'its extension' : `its ${extensions} extensions`
