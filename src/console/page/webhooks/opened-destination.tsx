import { type Signal, useSignal } from '@preact/signals'
import type { OverviewDestination } from '../../../client/client.ts'
import { nextAttemptText, whereOf } from '../facts/facts-of.ts'
import { FactSentence, LostActs } from '../facts/fact-line.tsx'
import { Button } from '../parts/button.tsx'
import { Ask } from '../parts/confirm.tsx'
import type { Typed } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { isOnePane } from '../parts/media.ts'
import { addressOf, refine } from '../state/address.ts'
import { asApp } from '../state/caller.ts'
import { capital, count, now, rowTime } from '../state/clock.ts'
import { SOON_MS, readAll } from '../state/keep-reading.ts'
import { type Destination, isTroubled, speedText, stateText } from './destination.ts'
import { EventChoices, RetryChoice, SetAddress } from './settings.tsx'
import '../style/why.css'

/** One destination: how it is doing, what failed and can be repeated, and its settings. `destinations` is null until they are known. */
export function OpenedDestination({ id, destinations }: { id: string; destinations: readonly Destination[] | null }) {
  const note = useSignal('')
  if (destinations === null) return <section />
  const destination = destinations.find((each) => each.id === id)
  if (destination === undefined) return <NotThere />
  return (
    <>
      <section>
        <Outcome destination={destination} />
        <Actions destination={destination} note={note} />
        <p class="small dim webhook-note" role="status">
          {note.value}
        </p>
      </section>
      {destination.isInUse && (
        <section>
          <h3 aria-level={isOnePane.value ? 2 : 3}>Settings</h3>
          <RetryChoice destination={destination} />
          <EventChoices destination={destination} />
        </section>
      )}
      <section class="small dim">
        Every webhook is signed with the secret that was shown when its destination was made. “Verify the signature” in
        docs/receive.md has the code that checks it.
      </section>
    </>
  )
}

interface ActionsProps {
  destination: Destination
  /** How many deliveries are repeated, as a sentence. */
  note: Signal<string>
}

/** What a person can do with a destination that is in use, and on a phone, the link to its attempts. */
function Actions({ destination, note }: ActionsProps) {
  const { id, kind, name, url, usage, isInUse, until } = destination
  return (
    <div class="actions">
      {usage !== null && <LostActs destination={usage} until={until} />}
      {isInUse && <Recover destination={destination} note={note} />}
      {isInUse && kind === 'app' && <SetAddress appId={id} name={name} url={url} />}
      {isOnePane.value && (
        <a class="button quiet" href={addressOf('webhooks', { [kind]: id })}>
          Show its deliveries
        </a>
      )}
    </div>
  )
}

const NotThere = () => (
  <section>
    <h2>This destination does not exist.</h2>
    <p class="dim">It may belong to another tenant, or nothing was posted there in 24 hours and it has no address.</p>
    <Button text="Show all" run={() => refine({ app: '', trigger: '', id: '' })} />
  </section>
)

function Outcome({ destination }: { destination: Destination }) {
  const { name, url, usage } = destination
  const isBad = isTroubled(destination)
  return (
    <>
      <h2 class="line outcome" aria-level={isOnePane.value ? 1 : 2}>
        <span class={isBad ? 'bad' : undefined}>
          <Icon name={isBad ? 'failed' : 'webhook'} />
        </span>
        {name}
      </h2>
      <p class="parties">{url}</p>
      {isBad && usage !== null ? (
        <Why usage={usage} />
      ) : (
        <p class="dim outcome-note">
          {capital(stateText(destination, now.peek()))}
          {speedText(destination) === '' ? '' : `, ${speedText(destination)}`}.
        </p>
      )}
    </>
  )
}

function Why({ usage }: { usage: OverviewDestination }) {
  const { kind, failures, failingSince, lastStatusCode, neverArrived, neverArrivedSince } = usage
  const params = { [kind]: whereOf(usage).id, state: 'never_arrived' }
  const text = `${count(neverArrived)} ${neverArrived === 1 ? 'delivery' : 'deliveries'}`
  return (
    <div class="why">
      {failingSince !== null && (
        <>
          <p>
            <b>
              It {lastStatusCode === undefined ? 'cannot be reached' : `answers ${lastStatusCode}`} since{' '}
              {rowTime(failingSince, now.peek())}.
            </b>
          </p>
          <p>
            {count(failures)} {failures === 1 ? 'attempt has' : 'attempts have'} failed since then.{' '}
            {nextAttemptText(usage, now.peek())}
          </p>
        </>
      )}
      {neverArrived > 0 && (
        <p>
          <FactSentence fact={{ parts: [{ text, view: 'webhooks', params }] }} /> never arrived, the oldest since{' '}
          {rowTime(neverArrivedSince ?? '', now.peek())}.
          {failingSince !== null && ' When it answers again, each can be delivered again.'}
        </p>
      )}
    </div>
  )
}

const HOUR_MS = 3_600_000
const DAYS_30 = 720

function Recover({ destination: { id, kind, name, usage }, note }: ActionsProps) {
  const { failingSince = null } = usage ?? {}
  const recover = async (typed: Typed): Promise<void> => {
    const where = kind === 'app' ? { appId: id } : { triggerId: id }
    const { scheduled } = await asApp().deliveries.recover({ since: typed('since'), ...where })
    note.value = scheduledText(scheduled)
    readAll(SOON_MS)
  }
  return (
    <Ask label="Recover since…" title="Recover failed deliveries" button="Recover" run={recover}>
      Each delivery to {name} whose latest attempt failed in this time is attempted again, at most the oldest 10,000.
      <label class="asked">
        Failed since
        <select class="field" name="since">
          {failingSince !== null && (
            <option value={failingSince}>{rowTime(failingSince, now.peek())}, when it began to fail</option>
          )}
          {[1, 24, 168, DAYS_30].map((hours) => (
            <option key={hours} value={new Date(now.peek() - hours * HOUR_MS).toISOString()}>
              {hours <= 24 ? `${hours} h ago` : `${hours / 24} days ago`}
            </option>
          ))}
        </select>
      </label>
    </Ask>
  )
}

const scheduledText = (scheduled: number): string =>
  scheduled === 0
    ? 'No delivery failed in that time.'
    : `${count(scheduled)} ${scheduled === 1 ? 'delivery is' : 'deliveries are'} attempted again now.`
