import { useEffect } from 'preact/hooks'
import { troubles } from '../frame/views.ts'
import { now } from '../state/clock.ts'
import { standing } from '../state/standing.ts'
import { useStanding } from './read-standing.ts'
import { troublesOf } from './troubles-of.ts'

/** Draws nothing: it counts in the rail what is wrong. `isRead` says that the view reads it itself. */
export function RailCounts({ isRead }: { isRead: boolean }) {
  const known = standing.value
  useEffect(() => void (troubles.value = known === null ? {} : troublesOf(known, now.peek())), [known])
  return isRead ? null : <Reader />
}

function Reader() {
  useStanding()
  return null
}
