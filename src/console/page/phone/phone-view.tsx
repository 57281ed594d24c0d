import { useEffect } from 'preact/hooks'
import { Loaded } from '../frame/loaded.tsx'
import { NoNumber } from '../parts/empty.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { useFollowed } from '../parts/following.ts'
import { PhoneComposer } from './composer.tsx'
import { TracedConversation, followHeard } from './traced-conversation.ts'
import { Handset } from './handset.tsx'
import { usePair } from './pair.ts'
import './phone.css'

followHeard()

const loadTrace = () => import('./trace-view.tsx')

/** Development's start page: a text from the app, the phone that receives it, and every step between them. */
export default function PhoneView() {
  const { pair, loading } = usePair()
  const conversation = useFollowed(
    JSON.stringify(pair),
    (sgw) => pair && new TracedConversation(sgw, pair.number, pair.contact),
  )
  useEffect(() => void (document.title = 'Phone – sgw'), [])
  if (loading.error.value !== '')
    return <LoadFailed what="The phone" error={loading.error.value} again={loading.again} />
  if (loading.value.value !== null && pair === null) return <NoNumber title="No number is connected yet." />
  if (pair === null || conversation === null) return null
  const isEmpty = conversation.isLoaded.value && conversation.messages.value.length === 0
  return (
    <div class={isEmpty ? 'phone first' : 'phone'}>
      <div class="stack phone-left">
        <header class="phone-head">
          <h1>This phone is simulated. Nothing leaves your machine.</h1>
          <p class={isEmpty ? 'dim' : 'dim not-on-phone'}>
            {isEmpty
              ? 'Press “Send the first text”. It travels from your app to the phone, and every step shows up here.'
              : 'Send a text from your app, answer it on the phone, and watch every step between.'}
          </p>
        </header>
        <PhoneComposer conversation={conversation} isFirst={isEmpty} />
        <Loaded load={loadTrace} props={{ conversation, isEmpty }} />
      </div>
      <Handset conversation={conversation} />
    </div>
  )
}
