import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { RetryPolicy, Sgw, WebhookEventType } from '../../../client/client.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Ask } from '../parts/confirm.tsx'
import { Field } from '../parts/field.tsx'
import { client, clientWith, me } from '../state/caller.ts'
import { readAll } from '../state/keep-reading.ts'
import { useLoading } from '../state/loading.ts'
import { session } from '../state/session.ts'
import type { Destination } from './destination.ts'
import { EVENTS, POLICIES } from './words.ts'

/** Who may read and change the settings of an app: its own key, or an operator who acts as it; null for another app's key. */
function clientOf(appId: string): Sgw | null {
  if (session.value?.kind === 'operator') return clientWith(session.value.token, appId)
  return appId === me.value?.appId ? client.value : null
}

/** The calls that read and change how deliveries to a destination are tried again; null if this session may not. */
export const retriesOf = (kind: Destination['kind'], id: string) =>
  (kind === 'app' ? clientOf(id)?.apps : client.value?.triggers) ?? null

/** Sets where an app's webhooks are posted, if this session may. The gateway says what is wrong with an address; '' is none. */
export function SetAddress({ appId, name, url }: { appId: string; name: string; url: string }) {
  const sgw = clientOf(appId)
  return sgw === null ? null : (
    <Ask
      class={url === '' ? 'button primary' : 'button quiet'}
      title="Webhook address"
      button="Set address"
      run={(typed) => sgw.apps.update(appId, { webhookUrl: typed('url') }).then(() => readAll())}
    >
      From now on, webhooks for {name} go there, including repeated attempts.
      <Field label="Address" name="url" type="url" defaultValue={url} placeholder="https://shop.example/sms" />
    </Ask>
  )
}

const POLICY_NAMES: Readonly<Record<RetryPolicy, string>> = {
  none: 'Never',
  short: 'For 43 minutes',
  standard: 'For three days',
}

/** When a failed delivery is retried. A choice is stored immediately. */
export function RetryChoice({ destination: { id, kind } }: { destination: Destination }) {
  const settings = retriesOf(kind, id)
  const chosen = useSetting<RetryPolicy>(settings === null ? null : () => settings.retries(id), [id])
  if (settings === null)
    return <p class="small dim setting">Only the app's own key, or an operator, sees and changes its settings.</p>
  const store = (policy: RetryPolicy): void => void chosen.store(policy, () => settings.setRetries(id, policy))
  return (
    <Setting name="Failed deliveries are tried again" {...chosen}>
      <select
        class="field"
        aria-label="Failed deliveries are tried again"
        value={chosen.value ?? ''}
        disabled={chosen.value === null}
        onChange={({ currentTarget }) => store(currentTarget.value as RetryPolicy)}
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
    <Setting name="It gets" {...chosen}>
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

interface SettingProps extends Pick<ReturnType<typeof useSetting>, 'value' | 'error' | 'again'> {
  name: string
  children: ComponentChildren
}

const Setting = ({ name, value, error, again, children }: SettingProps) => (
  <div class="setting">
    <p class="dim">{name}</p>
    {children}
    {error !== '' && (
      <p class="bad" role="alert">
        {error} {value === null && <Button class="link" text="Try again" run={again} />}
      </p>
    )}
  </div>
)
