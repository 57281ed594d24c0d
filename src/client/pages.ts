import type { Requester } from './requester.ts'

/** One page of a list. `Name` is the member with the items. */
export type Page<Name extends string, Item> = Record<Name, Item[]> & { total: number; page: number; limit: number }

/**
 * A list that is read page by page (`More`: additional members of its pages): `for await (const item of list)` goes through all of it, `await
 * list.page(n)` reads one page, from 1.
 */
export interface Pages<Name extends string, Item, More = unknown> extends AsyncIterable<Item> {
  page(number: number): Promise<Page<Name, Item> & More>
}

/** How the pages of a list fit together. */
export interface ListRules<Item> {
  /** Identifies an item. */
  keyOf(item: Item): string
  /** The filter of all pages after the first, so that new items do not shift them. */
  pinned?(newest: Item): object
}

const PAGE_SIZE = 100

/** The list at a path below `/v1`. `name` is the member of its pages that has the items. */
export function pagesOf<Name extends string, Item, More = unknown>(
  requester: Requester,
  path: string,
  name: Name,
  filter: object,
  { keyOf, pinned }: ListRules<NoInfer<Item>>,
): Pages<Name, Item, More> {
  const read = (query: object): Promise<Page<Name, Item> & More> => requester.request('GET', `/v1${path}`, { query })
  return {
    page: (page) => read({ ...filter, page }),
    async *[Symbol.asyncIterator]() {
      const seen = new Set<string>()
      const query = { limit: PAGE_SIZE, ...filter, page: 1 }
      for (; ; query.page++) {
        const answer = await read(query)
        const items: Item[] = answer[name]
        if (query.page === 1 && items[0] !== undefined) Object.assign(query, pinned?.(items[0]))
        for (const item of items) {
          if (!seen.has(keyOf(item))) yield item
          seen.add(keyOf(item))
        }
        if (items.length < answer.limit) return
      }
    },
  }
}
