import { hinted } from './facet.ts'
import type { FacetValue } from './filters.ts'

/** The times that are suggested at a moment, in epoch milliseconds. The last one shows how a date is written. */
export function timesAt(now: number): readonly FacetValue[] {
  const date = new Date(now).toISOString().slice(0, 10)
  return [...TIMES, { value: date, hint: `a date, or a time: ${date}T14:00Z` }]
}

const TIMES = hinted({
  today: 'since midnight',
  yesterday: 'since midnight of yesterday',
  '1h': 'an hour ago',
  '24h': '24 hours ago',
  '7d': '7 days ago',
  '30d': '30 days ago',
})
