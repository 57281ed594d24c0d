import type { Page } from '../../db/list-page.ts'

/** The contract's answer for a page of a list; `name` is the member with the items. */
export const listAnswer = (
  name: string,
  { page, limit }: { page: number; limit: number },
  { items, total }: Page<unknown>,
) => ({ [name]: items, total, page, limit })
