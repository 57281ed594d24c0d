import { useSignal } from '@preact/signals'
import { closePanel } from '../frame/panel.ts'
import { allText, isAll } from '../frame/views.ts'
import { type AppChoice, actAs, readChoices } from '../parts/app-choices.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { submitted } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { Refused } from '../parts/refused.tsx'
import { useAct } from '../parts/act.ts'
import { open } from '../state/address.ts'
import { hasAll, me, operator } from '../state/caller.ts'
import { useLoading } from '../state/loading.ts'
import { endSession, session } from '../state/session.ts'

/** Up to this many apps are easy to find without a search. */
const SEARCHED_APPS = 8

/** Tenant and app that the console acts as; an operator can choose another one. */
export function Switcher() {
  const isOperator = session.value?.kind === 'operator'
  return (
    <Dialog title="Tenant and app" close={closePanel}>
      {isOperator ? <Choice /> : <p>{me.value?.name}</p>}
      <div class="actions">
        <Button text="Sign out" class="button quiet" run={leave} />
        <Button text="Close" run={closePanel} />
      </div>
    </Dialog>
  )
}

function Choice() {
  const { value, error, again } = useLoading(readChoices, [])
  const choices = value.value ?? []
  const typed = useSignal('')
  const { act, error: refusal } = useAct()
  const found = choices.filter((choice) => matches(choice, typed.value))
  const choose = (choice: AppChoice) => act(() => show(choice))
  if (error.value !== '' && choices.length === 0)
    return <LoadFailed what="The apps" error={error.value} again={again} />
  return (
    <form onSubmit={submitted(() => found[0] && choose(found[0]))}>
      {choices.length > SEARCHED_APPS && (
        <input
          class="field"
          aria-label="Find a tenant or an app"
          placeholder="Tenant or app"
          value={typed.value}
          onInput={({ currentTarget }) => void (typed.value = currentTarget.value)}
        />
      )}
      <ul class="panel-list">
        {hasAll.value && typed.value === '' && (
          <Item isChosen={isAll.value} name="All tenants" of={allText.value} choose={showAll} />
        )}
        {found.map((choice) => (
          <Item
            key={choice.appId}
            isChosen={!isAll.value && choice.appId === me.value?.appId}
            name={choice.name}
            of={choice.tenantName}
            choose={() => void choose(choice)}
          />
        ))}
      </ul>
      <Refused error={refusal.value} />
      {found.length === 0 && typed.value !== '' && <p class="dim">No tenant or app has this name.</p>}
    </form>
  )
}

interface ItemProps {
  isChosen: boolean
  name: string
  of: string
  choose: () => void
}

const Item = ({ isChosen, name, of, choose: run }: ItemProps) => (
  <li>
    <button type="button" class="item panel-item" aria-pressed={isChosen} onClick={run}>
      <span class="panel-mark">{isChosen && <Icon name="sent" />}</span>
      {name}
      <span class="dim small">{of}</span>
    </button>
  </li>
)

function showAll(): void {
  open('all')
  closePanel()
}

const matches = ({ name, tenantName }: AppChoice, typed: string): boolean =>
  `${name} ${tenantName}`.toLocaleLowerCase().includes(typed.trim().toLocaleLowerCase())

/** Ends the session here and, for an operator, at the gateway. */
export function leave(): void {
  const sgw = operator.peek()
  closePanel()
  endSession('')
  void sgw?.request('DELETE', '/v1/operator/session').catch(() => undefined)
}

async function show(choice: AppChoice): Promise<void> {
  await actAs(choice)
  if (isAll.value) open('overview')
  closePanel()
}
