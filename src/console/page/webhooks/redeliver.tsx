import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { DeliveryAttempt } from '../../../client/client.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { copyText } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { Refused } from '../parts/refused.tsx'
import { useAct } from '../parts/act.ts'
import { GATEWAY } from '../state/address.ts'
import { asApp } from '../state/caller.ts'
import { clockTime } from '../state/clock.ts'
import { SOON_MS, readAll } from '../state/keep-reading.ts'
import { redeliverAsCurl } from './words.ts'

/** When the delivery is read again: an attempt ends within a webhook's time limit. */
const FOLLOW_MS = [600, 1600, 3600, 6600] as const

interface RedeliverProps {
  last: DeliveryAttempt
  /** Whether it never arrived: then it can be dismissed. */
  isLost: boolean
  again: () => void
}

/** Makes one more attempt. If the destination has already accepted it, asks first. */
export function Redeliver({ last, isLost, again }: RedeliverProps) {
  const isAsked = useSignal(false)
  const { act, isBusy, error } = useAct()
  const { underWay, deliver, isDismissed, dismiss } = useRedelivery(last, again)
  const isGood = last.outcome === 'success'
  return (
    <>
      <div class="actions">
        <Button
          text={isGood ? 'Deliver again…' : 'Deliver again'}
          class={isGood ? 'button quiet' : 'button'}
          isDisabled={isBusy.value || underWay > 0}
          run={() => (isGood ? (isAsked.value = true) : act(deliver))}
        />
        {isLost && !isDismissed && underWay === 0 && (
          <Button text="Dismiss" class="button quiet" run={() => act(dismiss)} />
        )}
        <CopyMenu last={last} />
      </div>
      <p class="small dim webhook-note" role="status">
        {underWay > 0 ? `Attempt ${underWay} is under way.` : isDismissed && 'It no longer counts as never arrived.'}
      </p>
      <Refused error={error.value} />
      {isAsked.value && (
        <Confirm title="Deliver again" button="Deliver again" run={deliver} close={() => void (isAsked.value = false)}>
          The destination accepted it at {clockTime(last.attemptedAt)}, and will get it again. Its webhook-id stays the
          same.
        </Confirm>
      )}
    </>
  )
}

/** Requests an attempt and follows it until it appears, or stops counting a delivery. `underWay` is the attempt's number; 0 without one. */
function useRedelivery({ deliveryId, attemptNumber }: DeliveryAttempt, again: () => void) {
  const asked = useSignal(0)
  const underWay = asked.value > attemptNumber ? asked.value : 0
  useEffect(() => {
    if (underWay === 0) return
    const timers = FOLLOW_MS.map((ms) => setTimeout(again, ms))
    const giveUp = setTimeout(() => (asked.value = 0), FOLLOW_MS[3] + SOON_MS)
    return () => {
      for (const timer of [...timers, giveUp]) clearTimeout(timer)
      readAll()
    }
  }, [underWay])
  const deliver = async (): Promise<void> => {
    asked.value = (await asApp().deliveries.redeliver(deliveryId)).attemptNumber
  }
  /** The number of the attempt that no longer counts; the next one can fail as well. */
  const dismissed = useSignal(0)
  const dismiss = async (): Promise<void> => {
    await asApp().deliveries.dismiss({ deliveryIds: [deliveryId] })
    dismissed.value = attemptNumber
    readAll()
  }
  return { underWay, deliver, isDismissed: dismissed.value === attemptNumber, dismiss }
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
