import type { Requester } from './requester.ts'

/** One page of a list. `Name` is the member with the items. */
export type Page<Name extends string, Item> = Record<Name, Item[]> & { total: number; page: number; limit: number }

/**
 * A list that is read page by page: `for await (const item of list)` goes through all of it, `await list.page(n)` reads one
 * page, from 1.
 */
export interface Pages<Name extends string, Item> extends AsyncIterable<Item> {
  page(number: number): Promise<Page<Name, Item>>
}

/** How to read a list. */
export interface ListReader<Name extends string, Item> {
  requester: Requester
  path: string
  /** The member of the answer that has the items. */
  name: Name
  filter: object
  /** Tells the items apart. */
  keyOf(item: Item): string
  /** The filter of all pages after the first, so that new items do not shift them. */
  pinned?(newest: Item): object
}

const PAGE_SIZE = 100

export function pagesOf<Name extends string, Item>(reader: ListReader<Name, Item>): Pages<Name, Item> {
  const { requester, path, filter } = reader
  return {
    page: (page) => requester.request('GET', path, { query: { ...filter, page } }),
    [Symbol.asyncIterator]: () => items(reader),
  }
}

async function* items<Name extends string, Item>(reader: ListReader<Name, Item>): AsyncGenerator<Item, void> {
  const { requester, path, name, keyOf } = reader
  const seen = new Set<string>()
  const filter = { limit: PAGE_SIZE, ...reader.filter }
  for (let page = 1; ; page++) {
    const answer = await requester.request<Page<Name, Item>>('GET', path, { query: { ...filter, page } })
    const found: Item[] = answer[name]
    const [newest] = found
    if (page === 1 && newest !== undefined) Object.assign(filter, reader.pinned?.(newest))
    for (const item of found) {
      const key = keyOf(item)
      if (seen.has(key)) continue
      seen.add(key)
      yield item
    }
    if (found.length < answer.limit) return
  }
}
