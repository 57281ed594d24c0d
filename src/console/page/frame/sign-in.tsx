import { useSignal } from '@preact/signals'
import { CopyButton } from '../parts/copy.tsx'
import { Mark } from '../parts/icon.tsx'
import { signInByKey, signInByLogin, signInReason } from '../state/session.ts'

/** Sign in by the operator's link or an app's key. It says what each of them shows. */
export const SignIn = () => (
  <main class="sign-in" id="main" tabIndex={-1}>
    <Mark />
    <h1>Sign in to this gateway</h1>
    {signInReason.value !== '' && (
      <p class="notice" role="alert">
        {signInReason.value}
      </p>
    )}
    <Operator />
    <AppKey />
  </main>
)

/** The link can be pasted as well, because a terminal on another machine cannot open it here. */
const Operator = () => (
  <section>
    <h2>As the operator</h2>
    <p class="dim">
      Sees all tenants and apps. On the machine of the gateway, run this and open the link that it prints:
    </p>
    <p class="command">
      <code>sgw console</code>
      <CopyButton text="sgw console" label="Copy the command" />
    </p>
    <SecretForm
      label="Or paste the link here"
      hint="http://…/console/#login=…"
      button="Open"
      submit={(link) => signInByLogin(loginOf(link))}
    />
  </section>
)

const AppKey = () => (
  <section>
    <h2>With an app's key</h2>
    <p class="dim">Sees the messages of the app's tenant, and sends as the app. The key is forgotten with this tab.</p>
    <SecretForm label="API key" hint="sgw_…" button="Sign in" submit={signInByKey} />
  </section>
)

interface SecretFormProps {
  label: string
  hint: string
  button: string
  submit: (secret: string) => Promise<void>
}

function SecretForm({ label, hint, button, submit }: SecretFormProps) {
  const secret = useSignal('')
  const isBusy = useSignal(false)
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    isBusy.value = true
    await submit(secret.value.trim()).finally(() => void (isBusy.value = false))
  }
  return (
    <form class="secret-form" onSubmit={(event) => void send(event)}>
      <label>
        {label}
        <input
          class="field mono"
          type="password"
          autoComplete="off"
          placeholder={hint}
          required
          value={secret.value}
          onInput={({ currentTarget }) => void (secret.value = currentTarget.value)}
        />
      </label>
      <button class="button primary" type="submit" disabled={isBusy.value}>
        {button}
      </button>
    </form>
  )
}

const loginOf = (link: string): string => /#login=([\w-]+)/.exec(link)?.[1] ?? link
