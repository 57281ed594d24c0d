import { useSignal } from '@preact/signals'
import type { DeliveryAttempt, OverviewDestination } from '../../../client/client.ts'
import { Icon } from '../parts/icon.tsx'
import { open } from '../state/address.ts'
import { client } from '../state/caller.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { failureText } from '../state/failure.ts'

/** A destination that fails. The count leads to the newest message whose webhook failed there. */
export function FailingWebhook({ destination }: { destination: OverviewDestination }) {
  const { url, failed, failingSince, lastStatusCode } = destination
  const error = useSignal('')
  const show = async (): Promise<void> => {
    try {
      const attempt = await newestFailure(destination)
      if (attempt === undefined) error.value = 'Its attempts are not listed any more.'
      else open('messages', { id: attempt.messageId })
    } catch (reason) {
      error.value = failureText(reason)
    }
  }
  return (
    <p class="also">
      <Icon name="failed" />
      <span>
        {new URL(url).host} {lastStatusCode === undefined ? 'cannot be reached' : `answers ${lastStatusCode}`}:{' '}
        <button type="button" class="link" title="Show the newest one" onClick={() => void show()}>
          {failed === 1 ? '1 webhook' : `${count(failed)} webhooks`} failed
        </button>{' '}
        since {rowTime(failingSince ?? 0, now.peek())}.{' '}
        {error.value !== '' && (
          <span class="bad" role="alert">
            {error.value}
          </span>
        )}
      </span>
    </p>
  )
}

async function newestFailure(destination: OverviewDestination): Promise<DeliveryAttempt | undefined> {
  const { kind, appId, triggerId, failingSince } = destination
  const startDate = failingSince ?? undefined
  const page = await client.value?.deliveries.list({ kind, appId, triggerId, startDate, limit: 100 }).page(1)
  return page?.attempts.find(({ outcome }) => outcome !== 'success')
}
