import { useSignal } from '@preact/signals'
import type { DeliveryAttempt, OverviewDestination } from '../../../client/client.ts'
import { open } from '../state/address.ts'
import { client } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'

/** Opens the newest message whose webhook failed there. */
export function NewestFailure({ destination }: { destination: OverviewDestination }) {
  const error = useSignal('')
  const show = async (): Promise<void> => {
    try {
      const attempt = await newestFailure(destination)
      if (attempt === undefined) error.value = ' Its attempts are not listed any more.'
      else open('messages', { id: attempt.messageId })
    } catch (reason) {
      error.value = ` ${failureText(reason)}`
    }
  }
  return (
    <>
      <button type="button" class="button" onClick={() => void show()}>
        Show the newest one
      </button>
      {error.value !== '' && (
        <span class="bad" role="alert">
          {error.value}
        </span>
      )}
    </>
  )
}

async function newestFailure(destination: OverviewDestination): Promise<DeliveryAttempt | undefined> {
  const { kind, appId, triggerId, failingSince } = destination
  const startDate = failingSince ?? undefined
  const page = await client.value?.deliveries.list({ kind, appId, triggerId, startDate, limit: 100 }).page(1)
  return page?.attempts.find(({ outcome }) => outcome !== 'success')
}
