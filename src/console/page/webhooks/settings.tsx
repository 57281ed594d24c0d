import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { RetryPolicy, WebhookEventType } from '../../../client/client.ts'
import { useAct } from '../parts/act.ts'
import { useLoading } from '../state/loading.ts'
import { clientOf, retriesOf } from './acting-for.ts'
import type { Destination } from './destination.ts'
import { EVENTS, POLICIES } from './words.ts'

const POLICY_NAMES: Readonly<Record<RetryPolicy, string>> = {
  none: 'Never',
  short: 'For 43 minutes',
  standard: 'For three days',
}

/** When a failed delivery is retried. A choice is stored immediately. */
export function RetryChoice({ destination: { id, kind } }: { destination: Destination }) {
  const settings = retriesOf(kind, id)
  const chosen = useSetting<RetryPolicy>(settings === null ? null : () => settings.retries(id), [id])
  if (settings === null) return <NotYours />
  return (
    <Setting name="Failed deliveries are tried again" setting={chosen}>
      <select
        class="field"
        aria-label="Failed deliveries are tried again"
        value={chosen.value ?? ''}
        disabled={chosen.value === null}
        onChange={({ currentTarget }) => {
          const policy = currentTarget.value as RetryPolicy
          void chosen.store(policy, () => settings.setRetries(id, policy))
        }}
      >
        {chosen.value === null && <option value="">–</option>}
        {(Object.keys(POLICIES) as RetryPolicy[]).map((policy) => (
          <option key={policy} value={policy}>
            {POLICY_NAMES[policy]}
          </option>
        ))}
      </select>
      <p class="small dim">{chosen.value === null ? '–' : POLICIES[chosen.value]}</p>
    </Setting>
  )
}

/** Which events an app's address gets. Triggers get only received texts. */
export function EventChoices({ destination: { id, kind } }: { destination: Destination }) {
  const sgw = kind === 'app' ? clientOf(id) : null
  const chosen = useSetting<WebhookEventType[]>(sgw === null ? null : () => sgw.apps.events(id), [id])
  if (kind === 'trigger') return <p class="small dim setting">A trigger gets only received texts.</p>
  if (sgw === null) return null
  const toggle = (event: WebhookEventType, isOn: boolean): void => {
    const events = (chosen.value ?? []).filter((each) => each !== event).concat(isOn ? [event] : [])
    void chosen.store(events, () => sgw.apps.setEvents(id, events))
  }
  return (
    <Setting name="It gets" setting={chosen}>
      <div class="event-choices" role="group" aria-label="Events that it gets">
        {(Object.keys(EVENTS) as WebhookEventType[]).map((event) => (
          <label class="line" key={event}>
            <input
              type="checkbox"
              checked={chosen.value?.includes(event) === true}
              disabled={chosen.value === null}
              onChange={({ currentTarget }) => toggle(event, currentTarget.checked)}
            />
            {EVENTS[event]} <span class="mono dim">{event}</span>
          </label>
        ))}
      </div>
      {chosen.value?.length === 0 && <p class="small warn">It gets no webhooks at all.</p>}
    </Setting>
  )
}

const NotYours = () => (
  <p class="small dim setting">Only the app's own key, or an operator, sees and changes its settings.</p>
)

/** A setting that is read when it is first shown. A value that cannot be stored returns to the previous one, with the reason. */
function useSetting<Value>(read: (() => Promise<Value>) | null, inputs: readonly unknown[]) {
  const loading = useLoading(async () => (read === null ? null : read()), inputs)
  const stored = useSignal<Value | null>(null)
  const { act, error } = useAct()
  const store = async (value: Value, call: () => Promise<void>): Promise<void> => {
    const before = stored.value
    stored.value = value
    if (!(await act(call))) stored.value = before
  }
  const value = stored.value ?? loading.value.value
  return { value, error: error.value || loading.error.value, again: loading.again, store }
}

interface SettingProps {
  name: string
  setting: Pick<ReturnType<typeof useSetting>, 'value' | 'error' | 'again'>
  children: ComponentChildren
}

const Setting = ({ name, setting: { value, error, again }, children }: SettingProps) => (
  <div class="setting">
    <p class="dim">{name}</p>
    {children}
    {error !== '' && (
      <p class="bad" role="alert">
        {error}{' '}
        {value === null && (
          <button type="button" class="link" onClick={again}>
            Try again
          </button>
        )}
      </p>
    )}
  </div>
)
