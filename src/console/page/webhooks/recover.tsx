import { useSignal } from '@preact/signals'
import { Confirm } from '../parts/confirm.tsx'
import { client, whileSignedIn } from '../state/caller.ts'
import { now, rowTime } from '../state/clock.ts'
import type { Destination } from './destination.ts'

const HOUR_MS = 3_600_000
const DAYS_30 = 720

interface RecoverProps {
  destination: Destination
  /** Called with the number of deliveries that are repeated. */
  recovered: (scheduled: number) => void
  close: () => void
}

/** Repeats the deliveries that have failed since a time. */
export function Recover({ destination: { id, kind, name, usage }, recovered, close }: RecoverProps) {
  const failingSince = usage?.failingSince ?? null
  const choices = [
    ...(failingSince === null
      ? []
      : [{ since: failingSince, text: `${rowTime(failingSince, now.peek())}, when it began to fail` }]),
    ...([1, 24, 168, DAYS_30] as const).map((hours) => ({
      since: new Date(now.peek() - hours * HOUR_MS).toISOString(),
      text: hours <= 24 ? `${hours} h ago` : `${hours / 24} days ago`,
    })),
  ]
  const chosen = useSignal(0)
  const recover = async (): Promise<void> => {
    const since = choices[chosen.value]?.since ?? ''
    const where = kind === 'app' ? { appId: id } : { triggerId: id }
    const answer = await whileSignedIn(
      client.value?.deliveries.recover({ since, ...where }) ?? Promise.reject(new Error('No app is chosen')),
    )
    recovered(answer.scheduled)
  }
  return (
    <Confirm title="Recover failed deliveries" button="Recover" run={recover} close={close}>
      Each delivery to {name} whose latest attempt failed in this time is attempted again, at most the oldest 10,000.
      <label class="asked">
        Failed since
        <select
          class="field"
          value={chosen.value}
          onChange={({ currentTarget }) => void (chosen.value = Number(currentTarget.value))}
        >
          {choices.map(({ text }, index) => (
            <option key={text} value={index}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </Confirm>
  )
}
