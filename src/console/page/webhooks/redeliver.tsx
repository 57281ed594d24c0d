import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { DeliveryAttempt } from '../../../client/client.ts'
import { Confirm } from '../parts/confirm.tsx'
import { copyText } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { GATEWAY } from '../state/address.ts'
import { client, whileSignedIn } from '../state/caller.ts'
import { clockTime } from '../state/clock.ts'
import { failureText } from '../state/failure.ts'
import type { DeliveryList } from './delivery-list.ts'
import { redeliverAsCurl } from './words.ts'

/** An attempt ends within a webhook's time. */
const FOLLOW_MS = [600, 1000, 2000, 3000] as const

interface RedeliverProps {
  last: DeliveryAttempt
  list: DeliveryList
  /** Reads the attempts again; whether there is a new one. */
  follow: () => Promise<boolean>
  changed: () => void
}

/** Makes one more attempt. One that the destination has taken already is asked for twice. */
export function Redeliver({ last, ...more }: RedeliverProps) {
  const isAsked = useSignal(false)
  const { deliver, note, error } = useRedelivery(last.deliveryId, more)
  const deliverAtOnce = (): void => void deliver().catch((reason: unknown) => void (error.value = failureText(reason)))
  const isGood = last.outcome === 'success'
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class={isGood ? 'button quiet' : 'button'}
          disabled={note.value !== ''}
          onClick={isGood ? () => void (isAsked.value = true) : deliverAtOnce}
        >
          {isGood ? 'Deliver again…' : 'Deliver again'}
        </button>
        <CopyMenu last={last} />
      </div>
      <p class="small dim webhook-note" role="status">
        {note.value}
      </p>
      {error.value !== '' && (
        <p class="bad" role="alert">
          {error.value}
        </p>
      )}
      {isAsked.value && (
        <Confirm title="Deliver again" button="Deliver again" run={deliver} close={() => void (isAsked.value = false)}>
          The destination took it at {clockTime(last.attemptedAt)}, and gets it once more. Its webhook-id stays the
          same.
        </Confirm>
      )}
    </>
  )
}

/** Asks for an attempt, and follows it until it is there. */
function useRedelivery(deliveryId: string, { list, follow, changed }: Omit<RedeliverProps, 'last'>) {
  const note = useSignal('')
  const error = useSignal('')
  const isGone = useRef(false)
  useEffect(() => () => void (isGone.current = true), [])
  const followUp = async (): Promise<void> => {
    for (const ms of FOLLOW_MS) {
      await new Promise((resolve) => setTimeout(resolve, ms))
      if (isGone.current) return
      if (await follow().catch(() => false)) break
    }
    note.value = ''
    changed()
  }
  const deliver = async (): Promise<void> => {
    const made = await whileSignedIn(client.value?.deliveries.redeliver(deliveryId) ?? Promise.resolve(null))
    error.value = ''
    note.value = made === null ? '' : `Attempt ${made.attemptNumber} is under way.`
    list.soon()
    void followUp()
  }
  return { deliver, note, error }
}

const CopyMenu = ({ last }: { last: DeliveryAttempt }) => (
  <Menu
    items={[
      { label: 'curl', run: () => void copyText(redeliverAsCurl(last.deliveryId, GATEWAY)) },
      { label: 'Link', run: () => void copyText(location.href) },
      { label: 'JSON', run: () => void copyText(JSON.stringify(last, null, 2)) },
    ]}
  >
    <Icon name="copy" />
    Copy as
    <Icon name="down" />
  </Menu>
)
