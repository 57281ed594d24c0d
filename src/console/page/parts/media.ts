import { signal } from '@preact/signals'

/** Whether a media query matches, as a signal. */
function matching(query: string) {
  const media = matchMedia(query)
  const matches = signal(media.matches)
  media.addEventListener('change', () => void (matches.value = media.matches))
  return matches
}

/** Rows have two lines, and the rail is a bar at the bottom. */
export const isPhoneWide = matching('(max-width: 699px)')
/** The rail has room only for icons. */
export const isRailNarrow = matching('(max-width: 1099px)')
/** An open message takes the place of the list. */
export const isOnePane = matching('(max-width: 1179px)')
