import { useSignal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { Confirm } from '../parts/confirm.tsx'
import { type TenantItem, setTenantStatus } from './calls.ts'

interface ChangeStatusProps {
  tenant: Pick<TenantItem, 'tenantId' | 'name' | 'status' | 'apps' | 'extensions'>
  sgw: Sgw
  changed: () => void
}

/** Suspends a tenant, or activates it again; says first what happens. */
export function ChangeStatus({ tenant, sgw, changed }: ChangeStatusProps) {
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
