import { useSignal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { Empty } from '../parts/empty.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { noteTenants, operator } from '../state/caller.ts'
import { count } from '../state/clock.ts'
import { type TenantItem, type TenantPage, callsOfOperator, createTenant, readTenants } from './calls.ts'
import { CreateApp } from './create-app.tsx'
import { NameDialog } from './name-dialog.tsx'
import { useRead } from './read.ts'
import { TenantRow } from './tenant-row.tsx'

/** For operators: the tenants of this gateway. */
export function Tenants() {
  const sgw = operator.value
  const pages = useSignal(1)
  const { value, error, again } = useRead(
    async () => (sgw === null ? null : readPages(sgw, pages.value)),
    [sgw, pages.value],
  )
  const isCreating = useSignal(false)
  /** The tenant that gets an app. */
  const owner = useSignal<TenantItem | null>(null)
  const known = value.value
  if (sgw === null) return <NotAnOperator />
  if (known === null)
    return error.value === '' ? null : <LoadFailed what="The tenants" error={error.value} again={again} />
  return (
    <>
      <Head known={known} create={() => void (isCreating.value = true)} />
      <TenantList known={known} sgw={sgw} changed={again} createApp={(tenant) => void (owner.value = tenant)} />
      {known.tenants.length < known.total && (
        <button type="button" class="button setup-more" onClick={() => void pages.value++}>
          Load more of {count(known.total)}
        </button>
      )}
      {isCreating.value && <CreateTenant sgw={sgw} created={again} close={() => void (isCreating.value = false)} />}
      {owner.value !== null && (
        <CreateApp
          tenant={owner.value}
          calls={callsOfOperator(sgw)}
          created={again}
          close={() => void (owner.value = null)}
        />
      )}
    </>
  )
}

const Head = ({ known, create }: { known: TenantPage; create: () => void }) => (
  <header class="setup-head">
    <h1>{sentence(known)}</h1>
    <div class="actions">
      <button type="button" class="button" onClick={create}>
        Create tenant
      </button>
    </div>
  </header>
)

interface TenantListProps {
  known: TenantPage
  sgw: Sgw
  changed: () => void
  createApp: (tenant: TenantItem) => void
}

const TenantList = ({ known, sgw, changed, createApp }: TenantListProps) => (
  <ul class="things" aria-label="Tenants">
    {known.tenants.map((tenant) => (
      <TenantRow
        key={tenant.tenantId}
        tenant={tenant}
        sgw={sgw}
        changed={changed}
        createApp={() => createApp(tenant)}
      />
    ))}
  </ul>
)

const NotAnOperator = () => (
  <Empty
    title="Only an operator sees all tenants."
    text="An app’s key sees its own tenant. A link of “sgw console” signs an operator in."
    command="sgw console"
  />
)

const CreateTenant = ({ sgw, created, close }: { sgw: Sgw; created: () => void; close: () => void }) => (
  <NameDialog
    title="Create a tenant"
    text="A tenant has numbers, apps and messages of its own. Other tenants see none of them."
    label="Name of the tenant"
    button="Create tenant"
    run={(name) => createTenant(sgw, name).then(created)}
    close={close}
  />
)

/** The first pages as one list. */
async function readPages(sgw: Sgw, pages: number): Promise<TenantPage> {
  const [first, ...rest] = await Promise.all(Array.from({ length: pages }, (_, index) => readTenants(sgw, index + 1)))
  if (first === undefined) throw new RangeError('There is always a first page')
  noteTenants(first.total)
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
