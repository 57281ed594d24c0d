import { Icon } from '../parts/icon.tsx'
import { addressOf, param } from '../state/address.ts'
import { now } from '../state/clock.ts'
import { type Destination, isTroubled, speedText, stateText } from './destination.ts'
import { shortUrl } from './words.ts'

/**
 * The webhook destinations, one row each, worst first: the heading says what is wrong with the first. A row opens the destination with its
 * attempts.
 */
export const DestinationRows = ({ destinations }: { destinations: readonly Destination[] }) => (
  <ul class="destinations" aria-label="Destinations">
    {destinations.map((destination, index) => (
      <li key={destination.id}>
        <DestinationRow destination={destination} isWorst={index === 0} />
      </li>
    ))}
  </ul>
)

function DestinationRow({ destination, isWorst }: { destination: Destination; isWorst: boolean }) {
  const { id, kind, name, url, usage, isInUse } = destination
  const isBad = isTroubled(destination)
  const isChosen = param(kind) === id
  return (
    <a
      class={isBad ? 'columns destination bad-destination' : 'columns destination'}
      href={addressOf('webhooks', { [kind]: id, id })}
      data-id={id}
      aria-current={isChosen ? 'true' : undefined}
    >
      <Icon name={isBad ? 'failed' : !isInUse ? 'cancelled' : usage === null ? 'webhook' : 'sent'} />
      <b class="clip">{name}</b>
      <span class="clip destination-url" title={url}>
        {shortUrl(url)}
      </span>
      <span class="destination-state">{stateText(destination, now.peek(), isWorst)}</span>
      <span class="measure not-on-phone">{speedText(destination)}</span>
    </a>
  )
}
