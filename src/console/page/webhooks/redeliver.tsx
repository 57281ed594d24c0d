import { type Signal, useSignal } from '@preact/signals'
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

/** An attempt ends within a webhook's time limit. */
const FOLLOW_MS = [600, 1000, 2000, 3000] as const

interface RedeliverProps {
  last: DeliveryAttempt
  list: DeliveryList
  /** Whether it never arrived: then it can be dismissed. */
  isLost: Signal<boolean>
  /** Reads the attempts again; returns whether there is a new one. */
  follow: () => Promise<boolean>
  changed: () => void
}

/** Makes one more attempt. If the destination has already accepted it, asks first. */
export function Redeliver({ last, isLost, ...more }: RedeliverProps) {
  const isAsked = useSignal(false)
  const { deliver, dismiss, isUnderWay, note, error } = useRedelivery(last.deliveryId, isLost, more)
  const isGood = last.outcome === 'success'
  const at = (run: () => Promise<void>) => (): void =>
    void run().catch((reason: unknown) => void (error.value = failureText(reason)))
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class={isGood ? 'button quiet' : 'button'}
          disabled={isUnderWay.value}
          onClick={isGood ? () => void (isAsked.value = true) : at(deliver)}
        >
          {isGood ? 'Deliver again…' : 'Deliver again'}
        </button>
        {isLost.value && !isUnderWay.value && (
          <button type="button" class="button quiet" onClick={at(dismiss)}>
            Dismiss
          </button>
        )}
        <CopyMenu last={last} />
      </div>
      <Said note={note.value} error={error.value} />
      {isAsked.value && (
        <Confirm title="Deliver again" button="Deliver again" run={deliver} close={() => void (isAsked.value = false)}>
          The destination accepted it at {clockTime(last.attemptedAt)}, and will get it again. Its webhook-id stays the
          same.
        </Confirm>
      )}
    </>
  )
}

const Said = ({ note, error }: { note: string; error: string }) => (
  <>
    <p class="small dim webhook-note" role="status">
      {note}
    </p>
    {error !== '' && (
      <p class="bad" role="alert">
        {error}
      </p>
    )}
  </>
)

/** Requests an attempt and follows it until it appears, or stops counting a delivery. */
function useRedelivery(
  deliveryId: string,
  isLost: Signal<boolean>,
  { list, follow, changed }: Omit<RedeliverProps, 'last' | 'isLost'>,
) {
  const note = useSignal('')
  const error = useSignal('')
  const isUnderWay = useSignal(false)
  const isGone = useRef(false)
  useEffect(() => () => void (isGone.current = true), [])
  const followUp = async (): Promise<void> => {
    for (const ms of FOLLOW_MS) {
      await new Promise((resolve) => setTimeout(resolve, ms))
      if (isGone.current) return
      if (await follow().catch(() => false)) break
    }
    note.value = ''
    isUnderWay.value = false
    changed()
  }
  const deliver = async (): Promise<void> => {
    const made = await whileSignedIn(client.value?.deliveries.redeliver(deliveryId) ?? Promise.resolve(null))
    error.value = ''
    note.value = made === null ? '' : `Attempt ${made.attemptNumber} is under way.`
    isUnderWay.value = made !== null
    list.soon()
    void followUp()
  }
  const dismiss = async (): Promise<void> => {
    await whileSignedIn(client.value?.deliveries.dismiss({ deliveryIds: [deliveryId] }) ?? Promise.resolve(null))
    isLost.value = false
    error.value = ''
    note.value = 'It no longer counts as never arrived.'
    list.soon()
    changed()
  }
  return { deliver, dismiss, isUnderWay, note, error }
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
