import { type Signal, useSignal } from '@preact/signals'
import { CopyButton } from '../parts/copy.tsx'
import { type Typed, submitted } from '../parts/field.tsx'
import { Mark } from '../parts/icon.tsx'
import { Refused } from '../parts/refused.tsx'
import { signInReason } from '../state/session.ts'
import { signInByKey, signInByLogin } from './by.ts'

/** Sign in with the operator's link or an app's key. The page says what each of them shows. */
export function SignIn() {
  /** The label of the last submitted form: a refusal appears beside it. */
  const sent = useSignal('')
  return (
    <main class="sign-in" id="main" tabIndex={-1}>
      <p class="line sign-in-name">
        <Mark />
        <b>sgw</b> <span class="dim">SMS gateway</span>
      </p>
      <h1>Sign in to this gateway</h1>
      {sent.value === '' && <Refusal />}
      <Operator sent={sent} />
      <AppKey sent={sent} />
    </main>
  )
}

const Refusal = () => <Refused error={signInReason.value} class="notice" />

/** You can also paste the link, because a terminal on another machine cannot open it here. */
const Operator = ({ sent }: { sent: Signal<string> }) => (
  <section>
    <h2>As the operator</h2>
    <p class="dim">
      You see all tenants and apps. On the gateway's machine, run this and open the link that it prints:
    </p>
    <p class="line copyable">
      <code class="mono">sgw console</code>
      <CopyButton text="sgw console" label="Copy the command" />
    </p>
    <SecretForm
      sent={sent}
      label="Or paste the link here"
      hint="http://…/console/#login=…"
      button="Open"
      submit={(link) => signInByLogin(loginOf(link))}
    />
  </section>
)

const AppKey = ({ sent }: { sent: Signal<string> }) => (
  <section>
    <h2>With an app's key</h2>
    <p class="dim">
      You see the messages of the app's tenant, and send as the app. The key is forgotten when this tab closes.
    </p>
    <SecretForm sent={sent} label="API key" hint="sgw_…" button="Sign in" submit={signInByKey} />
  </section>
)

interface SecretFormProps {
  sent: Signal<string>
  label: string
  hint: string
  button: string
  submit: (secret: string) => Promise<void>
}

function SecretForm({ sent, label, hint, button, submit }: SecretFormProps) {
  const isBusy = useSignal(false)
  const send = async (typed: Typed): Promise<void> => {
    isBusy.value = true
    sent.value = label
    await submit(typed('secret')).finally(() => void (isBusy.value = false))
  }
  return (
    <form class="actions secret-form" onSubmit={submitted(send)}>
      {sent.value === label && <Refusal />}
      <label>
        {label}
        <input class="field mono" name="secret" type="password" autoComplete="off" placeholder={hint} required />
      </label>
      <button class="button primary" type="submit" disabled={isBusy.value}>
        {button}
      </button>
    </form>
  )
}

const loginOf = (link: string): string => /#login=([\w-]+)/.exec(link)?.[1] ?? link
