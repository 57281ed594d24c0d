import { clockTime, part, zoneName } from '../state/clock.ts'

/** `14:26:07.123`. */
export const preciseTime = (at: string | number): string =>
  `${clockTime(at)}.${String(new Date(at).getMilliseconds()).padStart(3, '0')}`

/** `Mon 23 Nov 2026, 14:20:02.114 UTC+1`. */
export const wholeTime = (at: string): string =>
  `${part(at, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }).replaceAll(',', '')}, ${preciseTime(at)} ${zoneName(at)}`
