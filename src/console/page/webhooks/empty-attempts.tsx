import { hasPhone } from '../frame/views.ts'
import { Empty } from '../parts/empty.tsx'
import { NothingFound } from '../list/no-rows.tsx'
import { me } from '../state/caller.ts'
import type { DeliveryList } from './delivery-list.ts'
import type { Destination } from './destination.ts'
import { WORDS } from './filters.ts'
import { SetAddress } from './settings.tsx'

interface NoAttemptsProps {
  list: DeliveryList
  /** Null until they are known. */
  destinations: readonly Destination[] | null
}

export function NoAttempts({ list, destinations }: NoAttemptsProps) {
  if (Object.keys(list.filter).length > 0)
    return <NothingFound text="No delivery matches this filter." noun="deliveries" words={WORDS} />
  if (destinations?.some(({ isInUse }) => isInUse) === true)
    return (
      <Empty
        text={`Each webhook that the gateway posts appears here, with the answer of its destination.${hasPhone.value ? '' : ' Text one of your numbers to see one.'}`}
        command={hasPhone.value ? 'sgw simulate inbound --to NUMBER --from +15555550177 --text Hello' : null}
      />
    )
  const { appId, name } = me.value ?? { appId: null, name: null }
  return (
    <Empty
      text="Give an app a webhook address, and the gateway posts each received text there, signed. Every delivery appears here."
      command={`sgw app update ${appId ?? 'APP'} --webhook-url https://shop.example/sms`}
    >
      {appId !== null && <SetAddress appId={appId} name={name ?? appId} url="" />}
    </Empty>
  )
}
