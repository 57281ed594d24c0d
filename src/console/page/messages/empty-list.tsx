import { Loaded } from '../frame/loaded.tsx'
import type { ExtensionHealth } from '../../../client/client.ts'
import { LoadFailed } from '../parts/load-failed.tsx'
import { problemOf } from './filters.ts'
import type { MessageList } from './list-state.ts'

const loadEmpty = async () => (await import('./empty-view.tsx')).EmptyView

interface EmptyListProps {
  list: MessageList
  /** Null until they are known. */
  extensions: readonly ExtensionHealth[] | null
}

/** What stands in place of rows: a skeleton while they load, an error, or what will be here and how to fill it. */
export function EmptyList({ list, extensions }: EmptyListProps) {
  if (list.isLoading.value)
    return <div class="rows skeleton" role="status" aria-busy="true" aria-label="Messages are loading" />
  const problem = problemOf(list.filter)
  if (list.error.value !== '')
    return <LoadFailed what="The messages" error={list.error.value} again={() => void list.load()} />
  const isFiltered = Object.keys(list.filter).length > 0
  return <Loaded load={loadEmpty} props={{ extensions, problem, isFiltered }} />
}
