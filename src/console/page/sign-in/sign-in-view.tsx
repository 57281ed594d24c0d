import { session } from '../state/session.ts'
import './sign-in.css'
import '../parts/copyable.css'
import { NoApp } from './no-app.tsx'
import { SignIn } from './sign-in.tsx'

export { signInByLogin } from './by.ts'

/** The content in place of the frame: the sign-in, or for an operator without an app the form that creates one. */
export default function SignInView() {
  return session.value === null ? <SignIn /> : <NoApp />
}
