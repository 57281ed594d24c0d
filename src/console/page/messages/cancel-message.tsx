import { Confirm } from '../parts/confirm.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'

interface CancelMessageProps {
  to: string
  cancel: () => Promise<void>
  close: () => void
}

/** Asks before a message that has not gone out is cancelled. */
export const CancelMessage = ({ to, cancel, close }: CancelMessageProps) => (
  <Confirm title="Cancel this message" button="Cancel message" isDanger run={cancel} close={close}>
    It has not been sent to <PhoneNumber value={to} /> yet, and then never will be.
  </Confirm>
)
