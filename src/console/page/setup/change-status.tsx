import { Ask } from '../parts/confirm.tsx'
import { asOperator } from '../state/caller.ts'
import { readAll } from '../state/keep-reading.ts'
import type { TenantItem } from '../state/operator.ts'

/** Suspends a tenant, or activates it again; says first what happens. */
export function ChangeStatus({ tenantId, name, status, apps, extensions }: Omit<TenantItem, 'createdAt'>) {
  const isActive = status === 'active'
  const keys = apps === 1 ? 'The key of its app is' : `The keys of its ${apps} apps are`
  const whose = extensions === 1 ? 'its extension' : `its ${extensions} extensions`
  const verb = isActive ? 'Suspend' : 'Activate'
  const change = async (): Promise<void> => {
    const body = { status: isActive ? 'suspended' : 'active' }
    await asOperator().request('PUT', `/v1/operator/tenants/${tenantId}`, { body })
    readAll()
  }
  return (
    <Ask
      class={isActive ? 'button quiet' : 'button'}
      title={`${verb} ${name}`}
      button={verb}
      isDanger={isActive}
      run={change}
    >
      {isActive
        ? `${keys} refused at once, and open sockets close. Messages and webhooks wait until the tenant is active again. Texts to ${whose} are still received.`
        : 'Its keys work again at once, and what waits is sent.'}
    </Ask>
  )
}
