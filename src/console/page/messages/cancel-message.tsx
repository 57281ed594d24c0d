import { Confirm } from '../parts/confirm.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'

interface CancelMessageProps {
  to: string
  count?: number
  cancel: () => Promise<void>
  close: () => void
}

/** Asks before messages that have not gone out are cancelled. */
export const CancelMessage = ({ to, count = 1, cancel, close }: CancelMessageProps) => (
  <Confirm
    title={count === 1 ? 'Cancel this message' : `Cancel ${count} messages`}
    button={count === 1 ? 'Cancel message' : 'Cancel messages'}
    isDanger
    run={cancel}
    close={close}
  >
    {count === 1 ? 'It has' : 'They have'} not been sent to <PhoneNumber value={to} /> yet, and then never will be.
  </Confirm>
)
