import type { App } from '../../../client/client.ts'
import { actAs, readChoices } from '../parts/app-choices.ts'
import { Ask } from '../parts/confirm.tsx'
import { asApp, me, operator } from '../state/caller.ts'
import { count, duration, now } from '../state/clock.ts'
import { readAll } from '../state/keep-reading.ts'
import { useLoading } from '../state/loading.ts'
import { beginSession, endSession } from '../state/session.ts'
import { activateApp, deactivateApp, rotateKey } from './calls.ts'
import { showSecret } from './new-secret.tsx'
import { Id, Thing, Time } from './thing.tsx'

const KEY = 'M21 2l-9.6 9.6M15.5 7.5l4 4M2 15.5a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0'

/** One app: its key, its webhook address, and what a person can do with it. */
export function AppItem({ app }: { app: App }) {
  const { appId, name, isActive, webhookUrl, lastUsedAt } = app
  const isOwn = appId === me.value?.appId
  const isOperator = operator.value !== null
  return (
    <Thing
      name={name}
      icon={isActive ? KEY : 'cancelled'}
      note={isOwn && (isOperator ? 'You act as this app' : 'Your key belongs to this app')}
      state={isActive ? '' : 'Inactive'}
      buttons={isActive ? (isOwn || isOperator) && <OfActive app={app} /> : isOperator && <Activate app={app} />}
      facts={[
        ['Key', <span class="mono">{app.apiKeyPrefix}…</span>],
        ['Key last used', lastUsedAt === null ? 'never' : <Time at={lastUsedAt} />],
        ['Webhook', webhookUrl === null ? 'none' : <span class="mono">{webhookUrl}</span>, 'wide'],
        ['Created', <Time at={app.createdAt} />],
        ['Id', <Id id={appId} />, 'wide'],
      ]}
    />
  )
}

const OfActive = ({ app }: { app: App }) => (
  <>
    <Ask
      class="button"
      title={`Rotate the key of ${app.name}`}
      button="Rotate key"
      isDanger
      run={() => give(app, rotateKey(app))}
    >
      The old key stops working at once. <UsedText app={app} />
    </Ask>
    <Ask title={`Deactivate ${app.name}`} button="Deactivate" isDanger run={() => deactivate(app)}>
      <StopsText app={app} />
    </Ask>
  </>
)

const Activate = ({ app }: { app: App }) => (
  <Ask class="button" title={`Activate ${app.name}`} button="Activate" run={() => give(app, activateApp(app))}>
    It gets a new key, which is shown once. The old key stays invalid.
  </Ask>
)

async function give({ name }: App, call: Promise<{ apiKey: string }>): Promise<void> {
  const { apiKey } = await call
  showSecret({ app: name, apiKey })
  // The key with which this tab signed in no longer works.
  if (operator.peek() === null) beginSession({ kind: 'key', token: apiKey })
  readAll()
}

async function deactivate(app: App): Promise<void> {
  await deactivateApp(app)
  if (operator.peek() === null) endSession(`${app.name} is inactive, and its key no longer works.`)
  else if (app.appId === me.peek()?.appId) await actAsAnother(app)
  readAll()
}

/** An inactive app can only read, so an operator continues as another app of the tenant if there is one. */
async function actAsAnother({ tenantId }: App): Promise<void> {
  const other = (await readChoices()).find((choice) => choice.tenantId === tenantId)
  if (other) await actAs(other)
}

/** `booking-app used it 4 s ago.` */
const UsedText = ({ app: { name, lastUsedAt } }: { app: App }) => (
  <>
    {lastUsedAt === null
      ? `${name} has never used it.`
      : `${name} used it ${duration(Math.max(0, now.value - Date.parse(lastUsedAt))).replace(/\.\d/, '')} ago.`}
  </>
)

function StopsText({ app }: { app: App }) {
  const readWaiting = () => asApp().sms.list({ appId: app.appId, state: 'waiting', limit: 1 }).page(1)
  const waiting = useLoading(readWaiting, []).value.value?.total ?? 0
  return (
    <>
      Its key stops working at once. <UsedText app={app} />
      {app.webhookUrl !== null &&
        ` ${new URL(app.webhookUrl).host} gets no more webhooks, not even those that failed before.`}
      {waiting > 0 && ` ${count(waiting)} of its messages wait, and are still sent.`}
      {operator.value === null && ' Only an operator can activate it again.'}
    </>
  )
}
