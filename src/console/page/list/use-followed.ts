import { type Followed, useFollowing } from '../parts/following.ts'
import type { PagedList } from './paged-list.ts'

/** Loads a list and lets it follow events until another one takes its place. A list that could not be read is read on return. */
export function useFollowed<Row>(list: (PagedList<Row> & Followed) | null, returned = (): void => {}): void {
  const load = (): void => void list?.load()
  useFollowing(list, load, () => (list?.error.value === '' ? returned() : load()))
}
