import { type Signal, useSignal } from '@preact/signals'
import type { App } from '../../../client/client.ts'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { readChoices } from '../parts/app-choices.ts'
import { actAs, client, me, operator } from '../state/caller.ts'
import { count, duration, now } from '../state/clock.ts'
import { useLoading } from '../state/loading.ts'
import { beginSession, endSession } from '../state/session.ts'
import type { AppCalls } from './calls.ts'
import { Entry, Time } from './extension.tsx'
import { showSecret } from './new-secret.tsx'

interface AppItemProps {
  app: App
  calls: AppCalls | null
  changed: () => void
}

const KEY = 'M21 2l-9.6 9.6M15.5 7.5l4 4M2 15.5a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0'

/** One app: its key, its webhook address, and what a person can do with it. */
export function AppItem({ app, calls, changed }: AppItemProps) {
  const isOwn = app.appId === me.value?.appId
  return (
    <li class="thing" tabIndex={-1} aria-label={app.name}>
      <div class="line thing-head">
        <span class="dim">
          <Icon name={app.isActive ? KEY : 'cancelled'} />
        </span>
        <h2>{app.name}</h2>
        {!app.isActive && <span class="state dim">Inactive</span>}
        {isOwn && (
          <span class="dim">{operator.value === null ? 'Your key belongs to this app' : 'You act as this app'}</span>
        )}
      </div>
      {calls !== null && (isOwn || operator.value !== null) && <Buttons app={app} calls={calls} changed={changed} />}
      <dl class="thing-facts">
        <Entry name="Key">
          <span class="mono">{app.apiKeyPrefix}…</span>
        </Entry>
        <Entry name="Key last used">{app.lastUsedAt === null ? 'never' : <Time at={app.lastUsedAt} />}</Entry>
        <Entry name="Webhook" isWide>
          {app.webhookUrl === null ? 'none' : <span class="mono">{app.webhookUrl}</span>}
        </Entry>
        <Entry name="Created">
          <Time at={app.createdAt} />
        </Entry>
        <Entry name="Id" isWide>
          <span class="mono">{app.appId}</span>
          <CopyButton text={app.appId} label="Copy the id" />
        </Entry>
      </dl>
    </li>
  )
}

type Asked = 'rotate' | 'deactivate' | 'activate'

function Buttons({ app, calls, changed }: AppItemProps & { calls: AppCalls }) {
  const asked = useSignal<Asked | null>(null)
  const ask = (which: Asked) => () => void (asked.value = which)
  return (
    <div class="actions thing-buttons">
      {app.isActive ? (
        <>
          <button type="button" class="button" onClick={ask('rotate')}>
            Rotate key…
          </button>
          <button type="button" class="button quiet" onClick={ask('deactivate')}>
            Deactivate…
          </button>
        </>
      ) : (
        calls.activate !== null && (
          <button type="button" class="button" onClick={ask('activate')}>
            Activate…
          </button>
        )
      )}
      <Asking app={app} calls={calls} asked={asked} changed={changed} />
    </div>
  )
}

function Asking({ app, calls, asked, changed }: AppItemProps & { calls: AppCalls; asked: Signal<Asked | null> }) {
  const close = (): void => void (asked.value = null)
  const give = async (call: Promise<{ apiKey: string }>): Promise<void> => {
    const { apiKey } = await call
    showSecret({ app: app.name, apiKey })
    // The key with which this tab signed in no longer works.
    if (operator.peek() === null) beginSession({ kind: 'key', token: apiKey })
    changed()
  }
  const { activate } = calls
  if (asked.value === 'rotate') return <RotateKey app={app} run={() => give(calls.rotateKey(app))} close={close} />
  if (asked.value === 'deactivate')
    return <Deactivate app={app} run={() => deactivate(app, calls).then(changed)} close={close} />
  if (asked.value === 'activate' && activate !== null)
    return (
      <Confirm title={`Activate ${app.name}`} button="Activate" run={() => give(activate(app))} close={close}>
        It gets a new key, which is shown once. The old key stays invalid.
      </Confirm>
    )
  return null
}

interface QuestionProps {
  app: App
  run: () => Promise<void>
  close: () => void
}

const RotateKey = ({ app, run, close }: QuestionProps) => (
  <Confirm title={`Rotate the key of ${app.name}`} button="Rotate key" isDanger run={run} close={close}>
    The old key stops working at once. <UsedText app={app} />
  </Confirm>
)

const Deactivate = ({ app, run, close }: QuestionProps) => (
  <Confirm title={`Deactivate ${app.name}`} button="Deactivate" isDanger run={run} close={close}>
    <StopsText app={app} />
  </Confirm>
)

async function deactivate(app: App, calls: AppCalls): Promise<void> {
  await calls.deactivate(app)
  if (operator.peek() === null) endSession(`${app.name} is inactive, and its key no longer works.`)
  else if (app.appId === me.peek()?.appId) await actAsAnother(app)
}

/** `booking-app used it 4 s ago.` */
const UsedText = ({ app: { name, lastUsedAt } }: { app: App }) => (
  <>
    {lastUsedAt === null
      ? `${name} has never used it.`
      : `${name} used it ${duration(Math.max(0, now.value - Date.parse(lastUsedAt))).replace(/\.\d/, '')} ago.`}
  </>
)

/** What stops, and what continues. */
function StopsText({ app }: { app: App }) {
  const waiting = useLoading(async () => {
    const page = await client.value?.sms.list({ appId: app.appId, state: 'waiting', limit: 1 }).page(1)
    return page?.total ?? null
  }, [])
  const { value } = waiting.value
  return (
    <>
      Its key stops working at once. <UsedText app={app} />
      {app.webhookUrl !== null &&
        ` ${new URL(app.webhookUrl).host} gets no more webhooks, not even those that failed before.`}
      {value !== null && value > 0 && ` ${count(value)} of its messages wait, and are still sent.`}
      {operator.value === null && ' Only an operator can activate it again.'}
    </>
  )
}

/** An inactive app can only read, so an operator continues as another app of the tenant if there is one. */
async function actAsAnother({ tenantId }: App): Promise<void> {
  const other = (await readChoices()).find((choice) => choice.tenantId === tenantId)
  if (other !== undefined) await actAs(other)
}
