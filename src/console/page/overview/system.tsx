import { useEffect } from 'preact/hooks'
import { Loaded } from '../frame/loaded.tsx'
import type { Alert } from '../state/alert.ts'
import { Button } from '../parts/button.tsx'
import { asOperator, me, operator } from '../state/caller.ts'
import { duration } from '../state/clock.ts'
import { isFirstLoadOver } from '../state/live.ts'
import { useLoading } from '../state/loading.ts'
import { type Status, checksAsked } from './machine.ts'

const loadChecks = () => import('./checks-view.tsx')

/** One line for the gateway itself. It unfolds to the checks of `sgw doctor`, which take a moment and call RingCentral. */
export function System({ alerts }: { alerts: readonly Alert[] }) {
  const isFine = alerts.every(({ tenantId, mutedUntil }) => tenantId !== undefined || mutedUntil !== undefined)
  const isOpen = checksAsked.value > 0
  useEffect(() => () => void (checksAsked.value = 0), [])
  return (
    <footer class="stack system">
      <div class="line system-line">
        {operator.value !== null && (
          <>
            <b>{isFine ? 'This machine is fine.' : 'This machine needs attention.'}</b>
            {isFirstLoadOver.value && <StatusLine />}
          </>
        )}
        <span>sgw {me.value?.version ?? '–'}</span>
        {operator.value !== null && (
          <button
            type="button"
            class="link"
            aria-expanded={isOpen}
            onClick={() => void (checksAsked.value = isOpen ? 0 : 1)}
          >
            {isOpen ? 'Hide checks' : 'Show checks'}
          </button>
        )}
      </div>
      {isOpen && <Loaded load={loadChecks} props={{ alerts, asked: checksAsked.value }} />}
    </footer>
  )
}

function StatusLine() {
  const { value, error, again } = useLoading(() => asOperator().request<Status>('GET', '/v1/operator/status'), [])
  if (error.value !== '')
    return (
      <span class="bad">
        {error.value} <Button text="Try again" class="link" run={again} />
      </span>
    )
  if (value.value === null) return null
  const { backup, storage } = value.value
  return (
    <>
      <span>{backupText(backup)}</span>
      <span class={storage === null ? '' : 'bad'}>{storage ?? 'database ok'}</span>
    </>
  )
}

function backupText({ litestream, lagMs }: Status['backup']): string {
  if (!litestream) return 'no backup'
  return lagMs === null ? 'backup –' : `backup ${duration(lagMs)} behind`
}
