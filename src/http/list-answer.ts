import type { ListPage } from '../db/lists/list.ts'

/** A page of a list as the contract's answer, its items under this name. */
export const listAnswer = (
  name: string,
  { page, limit }: { page: number; limit: number },
  { items, total }: ListPage,
): Response =>
  new Response(`{"${name}":[${items}],"total":${total},"page":${page},"limit":${limit}}`, {
    headers: { 'content-type': 'application/json' },
  })
