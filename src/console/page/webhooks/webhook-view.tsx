import { useEffect } from 'preact/hooks'
import '../style/detail.css'
import '../style/print.css'
import '../style/webhook.css'
import { close, focusDetail } from '../messages/cursor.ts'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import type { DeliveryList } from './delivery-list.ts'
import type { Destination } from './destination.ts'
import { OpenedDelivery } from './opened-delivery.tsx'
import { OpenedDestination } from './opened-destination.tsx'

interface WebhookViewProps {
  opened: { destination: string } | { deliveryId: string; messageId: string }
  list: DeliveryList
  /** Null until they are known. */
  destinations: readonly Destination[] | null
  /** Called after something that changes destinations or attempts. */
  changed: () => void
  move: (step: number) => void
  takesFocus: boolean
}

/** The open destination or delivery, in a file of its own. What a person opens gets the focus. */
export function WebhookView({ opened, list, destinations, changed, move, takesFocus }: WebhookViewProps) {
  const isDelivery = 'deliveryId' in opened
  const id = isDelivery ? opened.deliveryId : opened.destination
  useEffect(() => {
    if (takesFocus) focusDetail()
  }, [id])
  return (
    <aside class="detail" aria-label={isDelivery ? 'Delivery' : 'Destination'} tabIndex={-1}>
      <Head id={id} move={isDelivery ? move : null} />
      {isDelivery ? (
        <OpenedDelivery key={id} {...opened} list={list} destinations={destinations} changed={changed} />
      ) : (
        <OpenedDestination key={id} id={id} list={list} destinations={destinations} changed={changed} />
      )}
    </aside>
  )
}

/** `move` is null where nothing is before or after. */
const Head = ({ id, move }: { id: string; move: ((step: number) => void) | null }) => (
  <header class="detail-head">
    <button type="button" class="icon-button back" aria-label="Back to the list" onClick={close}>
      <Icon name="left" />
    </button>
    <span class="mono">{id}</span>
    <CopyButton text={id} label="Copy the id" />
    <span class="rail-space" />
    {move !== null && (
      <>
        <button
          type="button"
          class="icon-button"
          aria-label="Previous attempt"
          title="Previous (k)"
          onClick={() => move(-1)}
        >
          <Icon name="up" />
        </button>
        <button type="button" class="icon-button" aria-label="Next attempt" title="Next (j)" onClick={() => move(1)}>
          <Icon name="down" />
        </button>
      </>
    )}
    <button type="button" class="icon-button shut" aria-label="Close" title="Close (Esc)" onClick={close}>
      <Icon name="failed" />
    </button>
  </header>
)
