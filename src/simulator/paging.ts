import { invalidParameter } from './errors.ts'
import type { Reply } from './http.ts'

/** A page of a list in the platform's form: records, `paging`, and `navigation` with full addresses. */
export function pageOf<T>(all: T[], request: PageRequest, render: (one: T) => unknown): Record<string, unknown> {
  const { page, perPage } = request
  const start = (page - 1) * perPage
  const records = all.slice(start, start + perPage)
  const totalPages = perPage === 0 ? 1 : Math.max(1, Math.ceil(all.length / perPage))
  const span = records.length === 0 ? {} : { pageStart: start, pageEnd: start + records.length - 1 }
  const isPage = perPage > 0 && page <= totalPages
  const at = (number: number): { uri: string } => ({ uri: request.uri(number) })
  return {
    uri: request.uri(page),
    records: records.map(render),
    paging: { ...(isPage ? { page } : {}), totalPages, perPage, totalElements: all.length, ...span },
    navigation: {
      firstPage: at(1),
      ...(page < totalPages ? { nextPage: at(page + 1) } : {}),
      ...(page > 1 ? { previousPage: at(page - 1) } : {}),
      lastPage: at(totalPages),
    },
  }
}

export interface PageRequest {
  /** 1-based. */
  page: number
  /** 0 for an empty page. */
  perPage: number
  /** The address of a page of the same list. */
  uri: (page: number) => string
}

const DEFAULT_PER_PAGE = 100
const MAX_PER_PAGE = 1000

/**
 * Reads `page` and `perPage`. More than the maximum counts as the maximum, and 0 asks for an empty page (RingCentral API reference,
 * `MessagingPagingInfo`). `base` is the list's address. Every page's address repeats the parameters of `echoed`.
 */
export function readPage(query: URLSearchParams, base: string, echoed: URLSearchParams): PageRequest | Reply {
  const page = Number(query.get('page') ?? 1)
  const perPage = Math.min(MAX_PER_PAGE, Number(query.get('perPage') ?? DEFAULT_PER_PAGE))
  if (!Number.isInteger(page) || page < 1) return invalidParameter('page')
  if (!Number.isInteger(perPage) || perPage < 0) return invalidParameter('perPage')
  const uri = (number: number): string => {
    const all = new URLSearchParams(echoed)
    all.set('page', String(number))
    all.set('perPage', String(perPage))
    return `${base}?${all}`
  }
  return { page, perPage, uri }
}
