import { useSignal } from '@preact/signals'
import { Button } from '../parts/button.tsx'
import { Ask } from '../parts/confirm.tsx'
import { Empty } from '../parts/empty.tsx'
import { Field } from '../parts/field.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { Refused } from '../parts/refused.tsx'
import { me, operator, readTenants } from '../state/caller.ts'
import { count } from '../state/clock.ts'
import { readAll, useReading } from '../state/keep-reading.ts'
import type { TenantItem, TenantPage } from '../state/operator.ts'
import { READ_EVERY_MS, createTenant } from './calls.ts'
import { ChangeStatus } from './change-status.tsx'
import { CreateApp } from './create-app.tsx'
import { Id, Thing, Time } from './thing.tsx'

/** For operators: the tenants of this gateway. */
export const Tenants = () =>
  operator.value === null ? (
    <Empty
      title="Only an operator sees all tenants."
      text="An app’s key sees its own tenant. A link of “sgw console” signs an operator in."
      command="sgw console"
    />
  ) : (
    <AllTenants />
  )

function AllTenants() {
  const pages = useSignal(1)
  const read = () => readPages(pages.value)
  const { value, error, again } = useReading({ read, everyMs: READ_EVERY_MS }, [operator.value, pages.value])
  const known = value.value
  if (known === null) return <LoadFailed what="The tenants" error={error.value} again={again} />
  return (
    <>
      <header class="setup-head">
        <h1>{sentence(known)}</h1>
        <div class="actions">
          <Ask
            label="Create tenant"
            class="button"
            title="Create a tenant"
            button="Create tenant"
            run={(typed) => createTenant(typed('name')).then(() => readAll())}
          >
            A tenant has numbers, apps and messages of its own. Other tenants see none of them.
            <Field label="Name of the tenant" name="name" required maxLength={100} />
          </Ask>
        </div>
      </header>
      <ul class="things" aria-label="Tenants">
        {known.tenants.map((tenant) => (
          <TenantRow key={tenant.tenantId} tenant={tenant} />
        ))}
      </ul>
      <Refused error={error.value} />
      {known.tenants.length < known.total && (
        <Button text={`Load more of ${count(known.total)}`} class="button setup-more" run={() => pages.value++} />
      )}
    </>
  )
}

const STATES = {
  active: { state: 'Active', icon: 'sent', kind: 'dim' },
  suspended: { state: 'Suspended', icon: 'waiting', kind: 'warn' },
  inactive: { state: 'Inactive', icon: 'cancelled', kind: 'dim' },
} as const

const TenantRow = ({ tenant }: { tenant: TenantItem }) => (
  <Thing
    name={tenant.name}
    {...STATES[tenant.status]}
    note={tenant.tenantId === me.value?.tenantId && 'You are viewing this tenant'}
    buttons={
      <>
        {tenant.status === 'active' && (
          <CreateApp {...tenant} class={tenant.apps === 0 ? 'button primary' : 'button'} />
        )}
        <ChangeStatus {...tenant} />
      </>
    }
    facts={[
      ['Active apps', tenant.apps],
      ['Extensions', tenant.extensions],
      ['Created', <Time at={tenant.createdAt} />],
      ['Id', <Id id={tenant.tenantId} />, 'wide'],
    ]}
  />
)

async function readPages(pages: number): Promise<TenantPage> {
  const first = await readTenants()
  const rest = await Promise.all(Array.from({ length: pages - 1 }, (_, index) => readTenants(index + 2)))
  return { ...first, tenants: [first, ...rest].flatMap(({ tenants }) => tenants) }
}

/** Worst first: tenants that cannot send because an operator stopped them. */
function sentence({ tenants, total }: TenantPage): string {
  const suspended = tenants.filter(({ status }) => status === 'suspended')
  const [one] = suspended
  if (suspended.length === 1 && one !== undefined)
    return `${one.name} is suspended: its messages wait, and its keys are refused.`
  if (suspended.length > 1)
    return `${count(suspended.length)} of ${count(total)} tenants are suspended: their messages wait, and their keys are refused.`
  const active = tenants.filter(({ status }) => status === 'active').length
  if (total > tenants.length) return `${count(total)} tenants.`
  if (active === 1) return 'One tenant is active.'
  if (active === 2 && total === 2) return 'Both tenants are active.'
  return active === total
    ? `All ${count(total)} tenants are active.`
    : `${count(active)} of ${count(total)} tenants are active.`
}
