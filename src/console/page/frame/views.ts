import { computed, signal } from '@preact/signals'
import type { IconName } from '../parts/icon-paths.ts'
import { address, addressOf } from '../state/address.ts'
import { hasAll, me } from '../state/caller.ts'
import { session } from '../state/session.ts'
import { toAnswer } from '../state/standing.ts'
import type { Trouble, View } from '../state/view-names.ts'

export interface ShownView {
  view: View
  name: string
  icon: IconName
  /** Views that are sections of this one, including itself. */
  sections?: readonly View[] | undefined
  /** On a phone, it is under More. */
  isBehindMore?: boolean
  trouble?: Trouble | null | undefined
}

/** What the views have found. */
export const troubles = signal<Partial<Record<View, Trouble | null>>>({})

/** Whether the phone can be shown: the simulator runs, and an operator may read its record. */
export const hasPhone = computed(
  () => me.value?.development === true && session.value?.kind === 'operator' && isSimulated(),
)

export const isSimulated = (): boolean => document.documentElement.dataset['simulator'] !== undefined

export const SETUP_SECTIONS = ['numbers', 'apps', 'tenants'] as const

/** Leads to a view; from all tenants, to that view of the tenant with the most trouble there. */
export const hrefOf = ({ view, trouble }: Pick<ShownView, 'view' | 'trouble'>): string =>
  addressOf(view, { tenant: trouble?.tenantId ?? '' })

/** Whether the address is that of this view or of one of its sections. */
export function isCurrent({ view, sections }: Pick<ShownView, 'view' | 'sections'>): boolean {
  const { view: current } = address.value
  return current !== null && (sections ?? [view]).includes(current)
}

/** How many tenants and apps there are, from the page of all tenants: `7 tenants, 12 apps`. */
export const allText = signal('')

/** Whether all tenants are shown. With an app's key there is only one. */
export const isAll = computed(() => address.value.view === 'all' && session.value?.kind === 'operator')

/** The views in the rail. Beside the simulator the conversations are seen on the contact's phone. */
export const viewsShown = computed<readonly ShownView[]>(() => {
  const { all, messages, webhooks, numbers } = troubles.value
  const up: ShownView = { view: 'all', name: 'All tenants', icon: 'left', trouble: all, isBehindMore: true }
  return [
    ...(hasAll.value && !isAll.value ? [up] : []),
    { view: isAll.value ? 'all' : 'overview', name: 'Overview', icon: 'overview' },
    { view: 'messages', name: 'Messages', icon: 'messages', trouble: messages },
    {
      view: 'conversations',
      name: hasPhone.value ? 'Phone' : 'Conversations',
      icon: hasPhone.value ? 'phone' : 'conversations',
      trouble: isAll.value ? null : toAnswer.value,
    },
    { view: 'webhooks', name: 'Webhooks', icon: 'webhook', trouble: webhooks },
    { view: 'numbers', name: 'Setup', icon: 'setup', trouble: numbers, sections: SETUP_SECTIONS, isBehindMore: true },
  ]
})
