import { useEffect } from 'preact/hooks'
import { focusDetail } from '../list/cursor.ts'
import { Detail, type DetailProps } from './detail.tsx'

/** The open message, in a separate file, because most visits only look at the list. An item that a person opens gets the focus. */
export default function MessageView({ takesFocus, ...props }: DetailProps & { takesFocus: boolean }) {
  useEffect(() => {
    if (takesFocus) focusDetail()
  }, [props.id])
  return <Detail key={props.id} {...props} />
}
