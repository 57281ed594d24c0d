import './webhook.css'
import { DetailHead } from '../list/detail-parts.tsx'
import type { DeliveryList } from './delivery-list.ts'
import type { Destination } from './destination.ts'
import { OpenedDelivery } from './opened-delivery.tsx'
import { OpenedDestination } from './opened-destination.tsx'

interface WebhookViewProps {
  opened: { destination: string } | { deliveryId: string; messageId: string }
  list: DeliveryList
  /** Null until they are known. */
  destinations: readonly Destination[] | null
  move: (step: number) => void
}

export default function WebhookView({ opened, list, destinations, move }: WebhookViewProps) {
  const isDelivery = 'deliveryId' in opened
  const id = isDelivery ? opened.deliveryId : opened.destination
  return (
    <>
      <DetailHead id={id} noun={isDelivery ? 'delivery' : 'destination'} move={isDelivery ? move : null} />
      {isDelivery ? (
        <OpenedDelivery key={id} {...opened} list={list} destinations={destinations} />
      ) : (
        <OpenedDestination key={id} id={id} destinations={destinations} />
      )}
    </>
  )
}
